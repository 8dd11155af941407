#include "formats/trace_gpu.hpp"
#include "formats/trace_network.hpp"
#include "model/workload/network.hpp"
#include "profiles/device_time.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/operator_layer.hpp"
#include "profiles/profile_file.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/traces.hpp"

#include <doctest/doctest.h>

namespace test_formats_trace_network {

using namespace eyeroof;
using namespace eyeroof::formats;
using eyeroof::tests::near;
using eyeroof::tests::TraceText;

namespace {

const std::string kBf16 = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

profiles::Profile profile_of(const std::string& text) {
    const auto profile = profiles::import_profile(profiles::input_of_text(text, "t.json"));
    for (const auto& diagnostic : profile.diagnostics()) {
        MESSAGE(to_string(diagnostic));
    }
    REQUIRE(profile.ok());
    return *profile;
}

formats::TraceNetwork network_of(const std::string& text) {
    auto made = formats::network_of_trace(profile_of(text), "t.json");
    for (const auto& diagnostic : made.diagnostics()) {
        MESSAGE(to_string(diagnostic));
    }
    REQUIRE(made.ok());
    return *std::move(made);
}

const model::Layer* layer_named(const formats::TraceNetwork& made, const std::string& name) {
    for (const model::Layer& layer : made.network.layers) {
        if (layer.name == name) {
            return &layer;
        }
    }
    return nullptr;
}

// One operator with one kernel.
std::optional<profiles::OperatorLayer> layer_of(const std::string& name,
                                                std::vector<std::vector<std::int64_t>> dims,
                                                std::vector<std::string> types = {},
                                                std::vector<std::string> concrete = {}) {
    profiles::Operator op;
    op.name = name;
    op.input_dims = std::move(dims);
    op.input_types = std::move(types);
    op.concrete_inputs = std::move(concrete);
    return profiles::any_layer_of(op);
}

double bytes_of(const profiles::OperatorLayer& made) {
    const auto work = model::work_of(made.layer);
    REQUIRE(work.ok());
    return static_cast<double>(work->bytes());
}

} // namespace

TEST_CASE("equal operators of a trace are one layer that runs as often") {
    TraceText trace;
    for (int i = 0; i < 3; ++i) {
        trace.op("aten::addmm", "[[64],[128,256],[256,64],[],[]]", kBf16);
        trace.kernel("gemm_bf16", 10.0);
        trace.next();
        trace.op("aten::relu", "[[128,64]]", R"(["c10::BFloat16"])");
        trace.kernel("elementwise", 2.0);
        trace.next();
    }
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 2);
    const model::Layer* product = layer_named(made, "addmm.128x64x256");
    REQUIRE(product != nullptr);
    CHECK(product->count == 3);
    CHECK(product->types.input == model::DataType::bf16);
    CHECK(std::get<model::GemmShape>(product->shape) == model::GemmShape{1, 128, 64, 256});
    CHECK(made.layers[0].measured_s == near(30e-6));
    CHECK(made.kernel_s == near(36e-6));
    CHECK(made.layered_s == near(36e-6));
}

TEST_CASE("of several marked steps the one of median kernel time is taken, with its copies") {
    TraceText trace;
    for (int step = 0; step < 3; ++step) {
        trace.step(step + 4, 2);
        trace.op("aten::copy_", "[[1024],[1024]]", R"(["float","float"])");
        trace.copy("Memcpy HtoD (Pageable -> Device)", 3.0, 4096);
        trace.next();
        trace.op("aten::mm", "[[64,64],[64,64]]", R"(["float","float"])");
        trace.kernel("sgemm", 10.0 * (step + 1));
        trace.next();
    }
    const auto made = network_of(trace.text());
    CHECK(made.step_name == "ProfilerStep#5, the median of 3");
    CHECK(made.kernel_s == near(20e-6));
    const model::Layer* copy = layer_named(made, "from_host.4096x1");
    REQUIRE(copy != nullptr);
    CHECK(copy->count == 1);
    CHECK(std::get<model::ElementwiseShape>(copy->shape).fn == "h2d");
}

TEST_CASE("without marks a sequence of kernels that repeats gives the step") {
    TraceText trace;
    for (int step = 0; step < 5; ++step) {
        for (const int n : {8, 16, 32, 64}) {
            trace.op("aten::mm", fmt::format("[[16,16],[16,{}]]", n), R"(["float","float"])");
            trace.kernel("sgemm", 4.0);
            trace.next();
        }
    }
    const auto made = network_of(trace.text());
    CHECK(made.step_name == "one of 5 repetitions");
    CHECK(made.network.layers.size() == 4);
    CHECK(made.network.layers[0].count == 1);
}

TEST_CASE("a kernel goes to the innermost operator that says its work") {
    TraceText trace;
    // The copy inside belongs to the copy, not to the convolution around it.
    trace.op("aten::conv2d", "[[1,3,8,8],[4,3,3,3],[4]]", kBf16);
    trace.op("aten::copy_", "[[1,3,8,8],[1,3,8,8],[]]", kBf16);
    trace.kernel("direct_copy", 2.0);
    trace.next();
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    CHECK(made.layers[0].op == "aten::copy_");
    CHECK(std::get<model::ElementwiseShape>(made.network.layers[0].shape).fn == "copy");
}

TEST_CASE("what no operator launched stands apart with its measured time") {
    TraceText trace;
    trace.op("aten::mm", "[[64,64],[64,64]]", R"(["float","float"])");
    trace.kernel("sgemm", 6.0);
    trace.next();
    trace.next();
    trace.kernel("my_secret_kernel", 4.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.uncosted.size() == 1);
    CHECK(made.network.uncosted[0].op == "my_secret_kernel");
    CHECK(made.network.uncosted[0].measured_s == near(4e-6));
    CHECK(made.layered_s == near(6e-6));
    CHECK(made.kernel_s == near(10e-6));
    CHECK(model::uncosted_products(made.network) == 0);
    CHECK(model::uncosted_text(made.network).find("measured 4 us") != std::string::npos);
}

TEST_CASE("a custom GEMM is taken from the operands whose inner dimensions agree") {
    TraceText trace;
    trace.op("mine::fast_linear", "[[4,32,256],[512,256],[]]", kBf16);
    trace.kernel("my_gemm_kernel", 6.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    CHECK(std::get<model::GemmShape>(made.network.layers[0].shape) ==
          model::GemmShape{1, 128, 512, 256});
    CHECK(made.layers[0].found == formats::Found::assumed);
}

TEST_CASE("experts are read from the router's scores and the grid of the first GEMM") {
    // 100 tokens, 16 experts, 2 a token: 16 + (200 - 16) / 8 = 39 tiles of 8 tokens;
    // 6 blocks of 128 columns hold both halves of an inner width of 384.
    TraceText trace;
    trace.op("vllm::moe_forward", "[[100,512],[100,16],[]]", kBf16);
    trace.kernel("bmm_E4m3_E2m1E4m3_Fp32_t128x8x256_swiGlu", 6.0, "[6,39,1]");
    trace.kernel("bmm_Bfloat16_E2m1E4m3_Fp32_t128x8x256", 3.0, "[4,39,1]");
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    const auto& shape = std::get<model::MoeShape>(made.network.layers[0].shape);
    CHECK(shape == model::MoeShape{100, 512, 384, 2, 16});
    CHECK(made.layers[0].measured_s == near(9e-6));
}

TEST_CASE(
    "a kernel that loops over single elements is strided by its name, and its copy permutes") {
    const std::string floats = R"(["float","float"])";
    TraceText trace;
    const auto run = [&](const char* op, const char* kernel) {
        trace.op(op, "[[64,128],[64,128]]", floats);
        trace.kernel(kernel, 2.0);
        trace.next();
    };
    run("aten::add", "void at::native::elementwise_kernel<128, 2, at::native::CUDAFunctor_add>");
    run("aten::mul", "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor>");
    run("aten::copy_", "void at::native::elementwise_kernel<128, 2, direct_copy_kernel_cuda>");
    const auto made = network_of(trace.text());
    using Shape = model::ElementwiseShape;
    REQUIRE(made.network.layers.size() == 3);
    CHECK(std::get<Shape>(made.network.layers[0].shape) == Shape{64, 128, "strided_add"});
    CHECK(std::get<Shape>(made.network.layers[1].shape) == Shape{64, 128, "mul"});
    CHECK(std::get<Shape>(made.network.layers[2].shape) == Shape{64, 128, "permute"});
}

TEST_CASE("an operator that is not known has the bound of its tensors' bytes") {
    TraceText trace;
    trace.op("mine::mix", "[[1000],[1000]]", R"(["float","c10::Half"])");
    trace.kernel("mix_kernel", 6.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    CHECK(made.layers[0].found == formats::Found::traffic);
    profiles::OperatorLayer layer;
    layer.layer = made.network.layers[0];
    CHECK(bytes_of(layer) == near(6000.0));
}

TEST_CASE("a tensor without dimensions has one element, and borrows no size beside it") {
    TraceText trace;
    trace.op("aten::add_", "[[],[],[]]", R"(["long int","long int","Scalar"])");
    trace.kernel("elementwise_kernel", 1.4);
    trace.next();
    trace.op("aten::cudnn_batch_norm", "[[64,512,28,28],[512]]", R"(["c10::Half","float"])");
    trace.kernel("bn_fw_tr", 100.0);
    trace.next();
    trace.op("aten::sub", "[[],[8,4]]", R"(["double","float"])");
    trace.kernel("elementwise_kernel", 1.4);
    trace.next();
    trace.op("aten::copy_", "[[8,4],[]]", R"(["float","double"])");
    trace.kernel("elementwise_kernel", 1.4);
    const auto made = network_of(trace.text());
    const auto elements = [&](const char* name) {
        const model::Layer* layer = layer_named(made, name);
        REQUIRE_MESSAGE(layer != nullptr, name);
        const auto& shape = std::get<model::ElementwiseShape>(layer->shape);
        return shape.rows * shape.cols;
    };
    CHECK(made.layers[0].found == formats::Found::exact);
    CHECK(elements("add_.2x1") == 2); // one number of 8 bytes: two words of 4
    CHECK(elements("sub.8x4") == 32);
    CHECK(elements("copy_.8x4") == 32);
}

TEST_CASE("tensors of a list count, and a list without sizes takes those of its reader") {
    TraceText trace;
    trace.op("aten::cat", "[[[8,4],[24,4]],[]]", R"(["TensorList","Scalar"])");
    trace.kernel("CatArrayBatchedCopy<float>", 6.0);
    trace.next();
    trace.op("aten::cat", "[[],[]]", R"(["TensorList","Scalar"])");
    trace.kernel("CatArrayBatchedCopy<float>", 6.0);
    trace.next();
    trace.op("aten::relu", "[[10,10]]", R"(["float"])");
    trace.kernel("relu", 6.0);
    const auto made = network_of(trace.text());
    const model::Layer* listed = layer_named(made, "cat.32x4");
    REQUIRE(listed != nullptr);
    CHECK(layer_named(made, "cat.10x10") != nullptr);
    CHECK(made.layers[0].found == formats::Found::exact);
    CHECK(made.layers[1].found == formats::Found::assumed);
    CHECK(made.layers[1].why == "its size is that of aten::relu beside it");
}

TEST_CASE("a collective sends what each rank of a ring sends") {
    TraceText trace;
    trace.op("record_param_comms", "[[1]]", R"(["float"])", "[]",
             R"(,"Collective name":"allreduce","dtype":"BFloat16","In msg nelems":1000,)"
             R"("Out msg nelems":1000,"Group size":4)");
    trace.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 6.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    const auto& shape = std::get<model::ElementwiseShape>(made.network.layers[0].shape);
    CHECK(shape.fn == "peer");
    CHECK(shape.rows * shape.cols == 3000); // 2 (4 - 1) / 4 of 2000 bytes
}

TEST_CASE("products of fp32 on tensor cores are tf32") {
    TraceText trace;
    trace.op("aten::mm", "[[64,64],[64,64]]", R"(["float","float"])");
    trace.kernel("cutlass_80_tensorop_s1688gemm_64x64", 6.0);
    trace.next();
    trace.op("aten::mm", "[[64,32],[32,64]]", R"(["float","float"])");
    trace.kernel("ampere_sgemm_128x64_nn", 6.0);
    const auto made = network_of(trace.text());
    CHECK(made.network.layers[0].types.input == model::DataType::tf32);
    CHECK(made.network.layers[1].types.input == model::DataType::fp32);
}

TEST_CASE("both gradients of a convolution are two layers, split by the names of their kernels") {
    TraceText trace;
    trace.op(
        "aten::convolution_backward", "[[2,8,6,6],[2,4,8,8],[8,4,3,3]]", kBf16,
        R"(["","","","[0]","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1","[True, True, False]"])");
    trace.kernel("cutlass_dgrad", 3.0);
    trace.kernel("cutlass_wgrad", 5.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 2);
    CHECK(made.network.layers[0].direction == model::Direction::bwd_data);
    CHECK(made.layers[0].measured_s == near(3e-6));
    CHECK(made.network.layers[1].direction == model::Direction::bwd_weight);
    CHECK(made.layers[1].measured_s == near(5e-6));
}

TEST_CASE("one kernel of a convolution's gradients that names neither does the work of both") {
    TraceText trace;
    trace.op(
        "aten::convolution_backward", "[[2,8,6,6],[2,4,8,8],[8,4,3,3]]", kBf16,
        R"(["","","","[0]","[1, 1]","[0, 0]","[1, 1]","False","[0, 0]","1","[True, True, False]"])");
    trace.kernel("miopen_backward", 4.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    CHECK(made.network.layers[0].count == 2);
    CHECK(made.layers[0].measured_s == near(4e-6));
    const auto work = model::work_of(made.network.layers[0]);
    REQUIRE(work.ok());
    CHECK(work->macs == 2 * 8 * 6 * 6 * 4 * 9);
}

TEST_CASE("operators of every kind become layers of their sizes") {
    using model::Op;
    const auto softmax = layer_of("aten::_softmax", {{2, 3, 4, 8}, {}, {}}, {"float"}, {"", "-1"});
    REQUIRE(softmax);
    CHECK(std::get<model::RowsShape>(softmax->layer.shape) == model::RowsShape{24, 8});
    const auto norm = layer_of("aten::native_layer_norm", {{4, 6, 16}, {}, {16}, {16}, {}});
    REQUIRE(norm);
    CHECK(std::get<model::RowsShape>(norm->layer.shape) == model::RowsShape{24, 16});
    const auto batch = layer_of("aten::cudnn_batch_norm", {{2, 8, 4, 4}, {8}, {8}});
    REQUIRE(batch);
    CHECK(std::get<model::RowsShape>(batch->layer.shape) ==
          model::RowsShape{.rows = 8, .cols = 32, .planes = 2});
    const std::vector<std::vector<std::int64_t>> norm_dims = {{2, 8, 4, 4}, {8}, {8}, {8}, {8}, {}};
    const auto training =
        layer_of("aten::cudnn_batch_norm", norm_dims, {}, {"", "", "", "", "", "True"});
    REQUIRE(training);
    CHECK(std::get<model::RowsShape>(training->layer.shape).images == 2);
    const auto evaluating =
        layer_of("aten::cudnn_batch_norm", norm_dims, {}, {"", "", "", "", "", "False"});
    REQUIRE(evaluating);
    CHECK(std::get<model::RowsShape>(evaluating->layer.shape).images == 0);
    const auto group = layer_of("aten::native_group_norm", {{2, 8, 4, 4}, {8}, {8}, {}, {}, {}, {}},
                                {}, {"", "", "", "2", "8", "16", "4", "1e-5"});
    REQUIRE(group);
    CHECK(std::get<model::RowsShape>(group->layer.shape) == model::RowsShape{8, 32});
    const auto table = layer_of("aten::embedding", {{100, 16}, {4, 5}}, {"float", "long"});
    REQUIRE(table);
    CHECK(std::get<model::RowsShape>(table->layer.shape) == model::RowsShape{20, 16, 100});
    const auto mean = layer_of("aten::mean", {{4, 8, 16}, {}, {}, {}}, {"float"}, {"", "[1]"});
    REQUIRE(mean);
    CHECK(mean->layer.op == Op::avgpool);
    CHECK(bytes_of(*mean) == near(4.0 * (512 + 64)));
    const auto add = layer_of("aten::add", {{4, 1, 16}, {1, 2, 16}, {}}, {"float", "float"});
    REQUIRE(add); // the second is read in full: more than an eighth of the result
    CHECK(std::get<model::ElementwiseShape>(add->layer.shape).fn == "add");
    const auto bias = layer_of("aten::add_", {{64, 16}, {16}, {}}, {"float", "float"});
    REQUIRE(bias);
    CHECK(std::get<model::ElementwiseShape>(bias->layer.shape).fn == "addu");
    const auto cast = layer_of("aten::copy_", {{64}, {64}, {}}, {"c10::Half", "float"});
    REQUIRE(cast);
    CHECK(bytes_of(*cast) == near(64.0 * 6));
    const auto flash =
        layer_of("aten::_scaled_dot_product_flash_attention",
                 {{2, 8, 128, 64}, {2, 2, 128, 64}, {2, 2, 128, 64}, {}, {}},
                 {"c10::Half", "c10::Half", "c10::Half"}, {"", "", "", "0.", "True"});
    REQUIRE(flash);
    const auto& heads = std::get<model::AttentionShape>(flash->layer.shape);
    CHECK(heads.groups == 8);
    CHECK(heads.kv_heads == 2);
    CHECK(heads.causal);
    const auto inner = layer_of("aten::_flash_attention_forward",
                                {{2, 128, 8, 64}, {2, 256, 8, 64}, {2, 256, 8, 64}});
    REQUIRE(inner); // tokens before heads
    CHECK(std::get<model::AttentionShape>(inner->layer.shape).m == 128);
    CHECK(std::get<model::AttentionShape>(inner->layer.shape).n == 256);
    CHECK(inner->approximate);
    const auto cudnn = layer_of("aten::_cudnn_attention_forward",
                                {{2, 8, 128, 64}, {2, 8, 128, 64}, {2, 8, 128, 64}},
                                {"c10::Half", "c10::Half", "c10::Half"},
                                {"", "", "", "", "", "", "128", "128", "False", "0.", "True"});
    REQUIRE(cudnn); // heads before tokens
    CHECK(std::get<model::AttentionShape>(cudnn->layer.shape).groups == 8);
    CHECK(std::get<model::AttentionShape>(cudnn->layer.shape).m == 128);
    CHECK(std::get<model::AttentionShape>(cudnn->layer.shape).causal);
    const auto volume = layer_of("aten::conv3d", {{1, 4, 10, 8, 8}, {6, 4, 3, 3, 3}, {6}}, {},
                                 {"", "", "", "[1, 1, 1]", "[0, 1, 1]", "[1, 1, 1]"});
    REQUIRE(volume); // 8 planes of output as images, 3 taps in depth as channels
    const auto& conv = std::get<model::ConvShape>(volume->layer.shape);
    CHECK(conv.n == 8);
    CHECK(conv.c == 12);
    CHECK(conv.pad == model::Extent2{1, 1});
    CHECK_FALSE(layer_of("aten::nonzero", {{8}}));
    CHECK_FALSE(layer_of("aten::add", {}));
}

TEST_CASE("an optimizer over lists updates all their elements") {
    TraceText trace;
    trace.op("aten::_fused_adamw_",
             "[[[100,10],[24]],[[100,10],[24]],[[100,10],[24]],[[100,10],[24]]]",
             R"(["TensorList","TensorList","TensorList","TensorList"])");
    trace.kernel("multi_tensor_apply_kernel<float>", 6.0);
    const auto made = network_of(trace.text());
    REQUIRE(made.network.layers.size() == 1);
    const auto& shape = std::get<model::ElementwiseShape>(made.network.layers[0].shape);
    CHECK(shape.fn == "adam");
    CHECK(shape.rows * shape.cols == 1024);
}

TEST_CASE("a device's time is split into computation, exposed copies, and idle by the host") {
    TraceText trace;
    trace.op("aten::copy_", "[[1024],[1024]]", R"(["float","float"])");
    trace.copy("Memcpy HtoD (Pinned -> Device)", 4.0, 4096); // 2000 to 2004
    trace.next();
    trace.op("aten::mm", "[[64,64],[64,64]]", R"(["float","float"])");
    trace.kernel("sgemm", 10.0); // 2005 to 2015, launched long before
    const auto time = profiles::device_time(profile_of(trace.text()));
    REQUIRE(time);
    CHECK(time->total_s == near(15e-6));
    CHECK(time->computation_s == near(10e-6));
    CHECK(time->exposed_copies_s == near(4e-6));
    CHECK(time->idle_s == near(1e-6));
    CHECK(time->host_bound_s == 0.0);
    CHECK(time->launch_latency_s == near(1e-6));
}

TEST_CASE("a profile keeps what a trace says when it is written and read again") {
    TraceText trace;
    trace.op("aten::cat", "[[[8,4],[24,4]],[]]", R"(["TensorList","Scalar"])");
    trace.kernel("CatArrayBatchedCopy<float>", 6.0);
    trace.copy("Memset (Device)", 1.0, 64);
    const auto profile =
        profile_of(trace.text("NVIDIA H100 80GB HBM3", R"(,"distributedInfo":{"world_size":8})"));
    CHECK(profile.run.ranks == 8);
    REQUIRE(profile.copies.size() == 1);
    CHECK(profile.copies[0].kind == profiles::CopyKind::fill);
    const auto source = profiles::ByteSource::of_text(profiles::profile_text(profile), "p.jsonl");
    const auto again = profiles::read_profile(*source);
    REQUIRE(again.ok());
    CHECK(*again == profile);
}

TEST_CASE("whatever an importer takes becomes a network, or says why not") {
    const std::filesystem::path corpus =
        eyeroof::tests::source_dir() + "/tests/fuzz/corpus/profile_import";
    std::size_t taken = 0;
    for (const auto& entry : std::filesystem::directory_iterator(corpus)) {
        CAPTURE(entry.path().string());
        auto profile = profiles::import_file(entry.path().string());
        if (!profile) {
            continue;
        }
        ++taken;
        const auto made = formats::network_of_trace(*std::move(profile), "t");
        if (!made) {
            CHECK(made.diagnostics().has_errors());
            continue;
        }
        for (const model::Layer& layer : made->network.layers) {
            CHECK_FALSE(model::validate(layer).has_errors());
            CHECK(layer.count >= 1);
        }
        CHECK(made->layered_s <= made->kernel_s + 1e-12);
    }
    CHECK(taken > 0);
}

TEST_CASE("a step of more different operators than an answer has memory for is refused") {
    const auto of_different = [](std::size_t operators) {
        TraceText trace;
        for (std::size_t i = 0; i < operators; ++i) {
            trace.op("aten::mm", fmt::format("[[{},8],[8,4]]", i + 1), R"(["float","float"])",
                     "[]");
            trace.kernel("gemm", 1.0);
            trace.next();
        }
        return formats::network_of_trace(profile_of(trace.text()), "t.json");
    };
    const auto most = of_different(formats::kMostTracedLayers);
    REQUIRE(most);
    CHECK(most->network.layers.size() == formats::kMostTracedLayers);
    const auto more = of_different(formats::kMostTracedLayers + 1);
    REQUIRE_FALSE(more);
    CHECK(more.diagnostics().items().front().code == "too-many-layers");
    CHECK(more.diagnostics().items().front().message ==
          "the whole trace has 25001 different operators; 25000 can be examined at once");
}

TEST_CASE("dimensions that no tensor can have make no layer") {
    TraceText trace;
    for (const char* dims :
         {"[[-1,8],[8,8]]", "[[9223372036854775807,2],[2,9223372036854775807]]",
          "[[1000000007,1000000007],[1000000007,1]]", "[[],[]]", "[[0,8],[8,8]]"}) {
        for (const char* name :
             {"aten::mm", "aten::add", "aten::_softmax", "aten::native_layer_norm",
              "aten::embedding", "aten::sum", "aten::cat", "aten::convolution", "vllm::moe_forward",
              "c10d::allreduce_", "mine::attention", "aten::_scaled_dot_product_flash_attention"}) {
            trace.op(name, dims, R"(["float","float"])", R"(["","-9223372036854775808","[7]"])");
            trace.kernel("flash_gemm_kernel", 1.0, "[9223372036854775807,-1,0]");
            trace.next();
        }
    }
    const auto made = formats::network_of_trace(profile_of(trace.text()), "t");
    if (made) {
        for (const model::Layer& layer : made->network.layers) {
            CHECK_FALSE(model::validate(layer).has_errors());
        }
    }
}

TEST_CASE("rocprofv3's JSON results give kernels, copies, and the GPU") {
    const std::string text = R"({"rocprofiler-sdk-tool":[{"metadata":{"pid":7},
      "agents":[{"id":{"handle":1},"type":1,"name":"cpu"},
                {"id":{"handle":9},"type":2,"name":"gfx942","product_name":"AMD Instinct MI300X",
                 "cu_count":304}],
      "buffer_records":{
        "kernel_dispatch":[{"size":1,"start_timestamp":1000,"end_timestamp":3500,
          "dispatch_info":{"agent_id":{"handle":9},"queue_id":{"handle":2},"kernel_id":4,
            "workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":650,"y":1,"z":1}}}],
        "memory_copy":[{"start_timestamp":100,"end_timestamp":300,"src_agent_id":{"handle":1},
          "dst_agent_id":{"handle":9},"bytes":4096}]},
      "kernel_symbols":[{"kernel_id":4,"kernel_name":"_Z4gemmv.kd","formatted_kernel_name":"gemm"}]
      }]})";
    const auto profile = profile_of(text);
    CHECK(profile.run.gpu == "AMD Instinct MI300X");
    CHECK(profile.run.sm_count == 304);
    REQUIRE(profile.launches.size() == 1);
    CHECK(profile.kernels[0].name == "gemm");
    CHECK(profile.launches[0].duration_ns == near(2500.0));
    CHECK(profile.launches[0].grid.x == 11); // 650 items in groups of 64
    REQUIRE(profile.copies.size() == 1);
    CHECK(profile.copies[0].kind == profiles::CopyKind::host_to_device);
    CHECK(profile.copies[0].bytes == 4096);
    const std::string cut = text.substr(0, text.size() / 2);
    CHECK_FALSE(profiles::import_profile(profiles::input_of_text(cut, "t.json")).ok());
}

TEST_CASE("the GPU of a trace is found in the catalog by its model, form and memory") {
    const std::vector<std::filesystem::path> folders = {eyeroof::tests::source_dir() + "/hwdb"};
    profiles::RunInfo run;
    run.gpu = "NVIDIA H100 80GB HBM3";
    run.sm_count = 132;
    run.memory_bytes = 85e9;
    CHECK(*formats::gpu_of_run(run, folders) == "h100-sxm-80gb");
    run = {};
    run.gpu = "NVIDIA A100-SXM4-40GB";
    CHECK(*formats::gpu_of_run(run, folders) == "a100-sxm-40gb");
    run.gpu = "Tesla T4";
    CHECK(*formats::gpu_of_run(run, folders) == "t4");
    run.gpu = "NVIDIA GeForce RTX 2080 Ti";
    CHECK(*formats::gpu_of_run(run, folders) == "rtx-2080-ti");
    run.gpu = "AMD Instinct MI300X VF";
    CHECK(*formats::gpu_of_run(run, folders) == "mi300x");
    CHECK(formats::same_gpu(run, "mi300x", folders));
    CHECK_FALSE(formats::same_gpu(run, "mi210", folders));
    run.gpu = "Some other card";
    CHECK_FALSE(formats::gpu_of_run(run, folders).ok());
}

} // namespace test_formats_trace_network
