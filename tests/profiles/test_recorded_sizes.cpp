// Work of operators by the sizes that traces record beside their tensors.
#include "profiles/import/importer.hpp"
#include "profiles/operator_layer.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace test_profiles_recorded_sizes {

using namespace eyeroof;
using namespace eyeroof::profiles;
using Dims = std::vector<std::vector<std::int64_t>>;
using Texts = std::vector<std::string>;

namespace {

const std::string kBf16 = "c10::BFloat16";

Count macs_of(const std::optional<OperatorLayer>& made) {
    REQUIRE(made);
    const auto work = model::work_of(made->layer);
    REQUIRE(work);
    return work->macs * made->repeats;
}

// Queries, keys and values, the boundaries of both sides, and what stands behind.
Operator packed(const Dims& qkv, std::int64_t boundaries, const Texts& behind) {
    Operator op{"flash_attn::_flash_attn_varlen_forward", qkv, {kBf16, kBf16, kBf16}, {"", "", ""}};
    for (int side = 0; side < 2; ++side) {
        op.input_dims.push_back({boundaries});
        op.input_types.emplace_back("int");
        op.concrete_inputs.emplace_back("");
    }
    for (const std::string& text : behind) {
        op.input_dims.push_back({});
        op.input_types.emplace_back("Scalar");
        op.concrete_inputs.push_back(text);
    }
    return op;
}

const Texts kCausal = {"1024", "1024", "0.", "0.0883", "True"};

} // namespace

TEST_CASE("packed sequences are as many as their boundaries say") {
    const Dims qkv = {{8192, 32, 128}, {8192, 8, 128}, {8192, 8, 128}};
    const auto even = any_layer_of(packed(qkv, 9, kCausal));
    // 8 sequences of 1024: 32 heads, half of the square and its diagonal, twice
    CHECK(macs_of(even) == Count{2} * 8 * 32 * 128 * (1024 * 1025 / 2));
    CHECK_FALSE(even->approximate);
    // Uneven ones do at least the work of equal lengths.
    const auto uneven = any_layer_of(packed(qkv, 5, kCausal));
    CHECK(macs_of(uneven) == Count{2} * 4 * 32 * 128 * (Count{2048} * 2049 / 2));
    CHECK(uneven->approximate);
    const auto& shape = std::get<model::AttentionShape>(uneven->layer.shape);
    CHECK(shape.kv_heads == 8);
}

TEST_CASE("a pool of pages is no context") {
    const auto with_table = [](const Texts& behind) {
        Operator op = packed({{16, 32, 128}, {52242, 16, 8, 128}, {52242, 16, 8, 128}}, 17, behind);
        op.input_dims.push_back({16, 300});
        op.input_types.emplace_back("int");
        op.concrete_inputs.emplace_back("");
        return op;
    };
    const auto decode = any_layer_of(with_table({"1", "4096"}));
    // 16 sequences of one query over 4096 keys
    CHECK(macs_of(decode) == Count{2} * 16 * 32 * 128 * 4096);
    CHECK(decode->approximate);
    CHECK_FALSE(any_layer_of(with_table({"1"}))); // no length of keys is recorded
    Operator store{"sgl_kernel::store_cache",
                   {{22, 1024}, {22, 1024}, {835874, 1024}, {835874, 1024}, {22}},
                   {kBf16, kBf16, kBf16, kBf16, "long"},
                   {}};
    const auto stored = any_layer_of(store);
    REQUIRE(stored);
    CHECK(model::work_of(stored->layer)->bytes() == Count{2} * 2 * 22 * 1024 * 2);
}

TEST_CASE("an equation of two tensors is the product of its letters") {
    const auto of = [](const std::string& equation, const Dims& tensors) {
        Operator op{"aten::einsum", {{}, {}, {}}, {"", "TensorList", ""}, {equation, "", ""}};
        for (const auto& dims : tensors) {
            op.listed.push_back({1, dims});
        }
        return any_layer_of(op);
    };
    CHECK(macs_of(of("bij,bkj->bik", {{8, 128, 64}, {8, 32, 64}})) == 8 * 128 * 32 * 64);
    CHECK(macs_of(of("bhqd, bhkd -> bhqk", {{2, 4, 16, 8}, {2, 4, 32, 8}})) == 2 * 4 * 16 * 32 * 8);
    const auto outer = of("i,j->ij", {{16}, {32}});
    CHECK(macs_of(outer) == 16 * 32);
    CHECK_FALSE(of("bij,bkj->bik", {{8, 128, 64}, {8, 32, 63}})); // j is two sizes
    CHECK_FALSE(of("ij,jk", {{8, 4}, {4, 8}}));                   // no result is named
    CHECK_FALSE(of("ij->ji", {{8, 4}}));
}

TEST_CASE("products with vectors, broadcast batches, and in place") {
    const auto of = [](const char* name, const Dims& dims, const std::string& type = "float") {
        return any_layer_of(Operator{name, dims, Texts(dims.size(), type), {}});
    };
    CHECK(macs_of(of("aten::mv", {{4096, 512}, {512}})) == Count{4096} * 512);
    CHECK(macs_of(of("aten::addmv_", {{4096}, {4096, 512}, {512}})) == Count{4096} * 512);
    CHECK(macs_of(of("aten::dot", {{1000000}, {1000000}})) == 1000000);
    CHECK(macs_of(of("aten::addbmm", {{64, 32}, {8, 64, 16}, {8, 16, 32}})) == 8 * 64 * 16 * 32);
    CHECK(macs_of(of("aten::matmul", {{2, 1, 128, 64}, {2, 16, 64, 128}})) ==
          Count{2} * 16 * 128 * 64 * 128);
    CHECK_FALSE(of("aten::matmul", {{2, 3, 128, 64}, {2, 16, 64, 128}}));
    CHECK(macs_of(of("aten::mm", {{512, 512}, {512, 512}}, "c10::complex<float>")) ==
          Count{4} * 512 * 512 * 512);
    CHECK(macs_of(of("aten::addmm_", {{8, 4}, {8, 16}, {16, 4}})) == 8 * 16 * 4);
}

TEST_CASE("grouped products, recurrent networks, and packed weights") {
    const auto of = [](const char* name, const Dims& dims, const Texts& types) {
        return Operator{name, dims, types, {}};
    };
    CHECK(macs_of(any_layer_of(of("aten::_grouped_mm", {{4096, 2048}, {8, 2048, 1024}, {8}},
                                  {kBf16, kBf16, "int"}))) == Count{4096} * 2048 * 1024);
    CHECK(macs_of(any_layer_of(of("aten::_grouped_mm", {{2048, 4096}, {4096, 1024}, {8}},
                                  {kBf16, kBf16, "int"}))) == Count{4096} * 2048 * 1024);
    Operator lstm{"aten::lstm", {{4, 10, 32}, {}, {}}, {"float", "TensorList", "TensorList"}, {}};
    lstm.listed = {{1, {1, 10, 64}}, {1, {1, 10, 64}}, {2, {256, 32}},
                   {2, {256, 64}},   {2, {256}},       {2, {256}}};
    CHECK(macs_of(any_layer_of(lstm)) == Count{40} * 256 * (32 + 64));

    Operator int4 =
        of("aten::_weight_int4pack_mm", {{16, 4096}, {512, 32, 32, 4}, {}, {32, 4096, 2}},
           {kBf16, "int", "Scalar", kBf16});
    const auto packed_layer = packed_gemm_of(int4);
    CHECK(macs_of(packed_layer) == Count{16} * 4096 * 4096);
    CHECK(packed_layer->layer.types.weight == model::DataType::int4);
    Operator marlin = of("_C::gptq_marlin_gemm", {{16, 4096}, {}, {256, 8192}, {}, {}, {}},
                         {"c10::Half", "", "int", "Scalar", "Scalar", "Scalar"});
    marlin.concrete_inputs = {"", "", "", "16", "4096", "4096"};
    CHECK(macs_of(packed_gemm_of(marlin)) == Count{16} * 4096 * 4096);
    CHECK_FALSE(packed_gemm_of(of("my::gemm", {{16, 4096}, {100, 7}}, {kBf16, "int"})));
}

TEST_CASE("fused convolutions, and gradients of experts' weights") {
    Operator conv{"ConvBiasReLU_",
                  {{8, 64, 56, 56}, {128, 64, 3, 3}, {1, 128, 1, 1}, {}, {}},
                  {kBf16, kBf16, kBf16, "Scalar", "Scalar"},
                  {"", "", "", "1", "2"}}; // padding, and the stride behind it
    CHECK(macs_of(any_layer_of(conv)) == Count{8} * 128 * 28 * 28 * 64 * 9);
    // Depthwise, over time: 4 taps a channel; only what lies inside is sure.
    const Operator causal{"sgl_kernel::causal_conv1d_fwd",
                          {{2, 3328, 2048}, {3328, 4}, {3328}},
                          {kBf16, kBf16, kBf16},
                          {"", "", ""}};
    CHECK(macs_of(any_layer_of(causal)) == Count{2} * 3328 * 2045 * 4);
    CHECK(any_layer_of(causal)->approximate);
    const Operator grouped{"primus_turbo::grouped_gemm_variable_k",
                           {{8192, 2048}, {8192, 1408}, {64}},
                           {kBf16, kBf16, "long int"},
                           {"", "", ""}};
    CHECK(macs_of(custom_gemm_of(grouped)) == Count{8192} * 2048 * 1408);
    Operator apart = grouped; // rows of no common number
    apart.input_dims[1] = {4096, 1408};
    CHECK_FALSE(custom_gemm_of(apart));
}

TEST_CASE("gradients of a transposed convolution do its work twice") {
    // From 6 x 192 x 30 x 96 to 6 x 384 x 60 x 192 by 2 x 2 taps of stride 2.
    Operator op{
        "aten::convolution_backward",
        {{6, 384, 60, 192}, {6, 192, 30, 96}, {192, 384, 2, 2}, {}, {}, {}, {}, {}, {}, {}, {}},
        {"float", "float", "float"},
        {"", "", "", "[384]", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 0]", "1",
         "[True, True, True]"}};
    const auto made = any_layer_of(op);
    REQUIRE(made);
    CHECK(made->data_direction == model::Direction::fwd);
    CHECK(macs_of(made) == Count{2} * 6 * 192 * 30 * 96 * 384 * 4);
}

TEST_CASE("a region of the processor that mostly runs what has no event keeps its time") {
    const auto event = [](const char* name, double us, double for_us, const char* dims) {
        return fmt::format(
            R"({{"ph":"X","cat":"cpu_op","name":"{}","pid":1,"tid":1,"ts":{},)"
            R"("dur":{},"args":{{"Input Dims":{},"Input type":["float","float"]}}}})",
            name, us, for_us, dims);
    };
    const auto profile = import_profile(
        input_of_text("{\"traceEvents\":[" + event("Torch-Compiled Region: 0/1", 1000, 1000, "[]") +
                          "," + event("aten::mm", 1100, 100, "[[8,8],[8,8]]") + "]}",
                      "t.json"));
    REQUIRE(profile.ok());
    REQUIRE(profile->launches.size() == 2);
    CHECK(profile->launches[0].duration_ns + profile->launches[1].duration_ns == 1e6);
}

TEST_CASE("experts are known by their weights and the choices of tokens") {
    // 64 tokens to 8 of 128: [64 x 8, 2048] x [2048, 1536] and [64 x 8, 768] x [768, 2048]
    Operator op{"sglang::inplace_fused_experts",
                {{64, 2048}, {128, 1536, 2048}, {128, 2048, 768}, {64, 8}, {64, 8}},
                {kBf16, kBf16, kBf16, "float", "int"},
                {}};
    const auto made = any_layer_of(op);
    CHECK(macs_of(made) == Count{64} * 8 * 3 * 2048 * 768);
    CHECK(made->approximate);
    op.input_dims[3] = {32, 8}; // choices of other tokens
    op.input_dims[4] = {32, 8};
    CHECK_FALSE(any_layer_of(op));
}

TEST_CASE("an output that stands before narrow operands is none of them") {
    const auto macs = [](const Dims& dims, const Texts& types) {
        return macs_of(custom_gemm_of({"_C::cutlass_scaled_fp4_mm", dims, types, {}}));
    };
    const std::string byte = "unsigned char", fp8 = "c10::Float8_e4m3fn";
    // [64, 8192] x [8192, 4096], two values of 4 bits in a byte
    const Dims packed_dims = {{64, 4096}, {64, 4096}, {4096, 4096}, {64, 512}, {4096, 512}, {1}};
    const Texts packed_types = {kBf16, byte, byte, fp8, fp8, "float"};
    CHECK(macs(packed_dims, packed_types) == Count{64} * 8192 * 4096);
    CHECK_FALSE(packed_gemm_of({"_C::cutlass_scaled_fp4_mm", packed_dims, packed_types, {}}));
    CHECK(macs({{64, 4096}, {64, 2048}, {2048, 4096}}, {kBf16, fp8, fp8}) ==
          Count{64} * 2048 * 4096);
}

TEST_CASE("FlashAttention 3 says behind its scales whether it is causal") {
    Operator op{"flash_attn_3::_flash_attn_forward",
                {{4, 1024, 16, 64}, {4, 1024, 16, 64}, {4, 1024, 16, 64}},
                {kBf16, kBf16, kBf16},
                {}};
    op.input_dims.resize(26);
    op.input_types.resize(26, "");
    op.concrete_inputs.resize(26, "");
    op.concrete_inputs[24] = "True";
    CHECK(macs_of(any_layer_of(op)) == Count{2} * 4 * 16 * 64 * (1024 * 1025 / 2));
    op.concrete_inputs[24] = "False";
    CHECK(macs_of(any_layer_of(op)) == Count{2} * 4 * 16 * 64 * 1024 * 1024);
}

TEST_CASE("causal attention of fewer queries than keys starts at the first key in PyTorch") {
    Operator op{"aten::scaled_dot_product_attention",
                {{2, 8, 128, 64}, {2, 8, 256, 64}, {2, 8, 256, 64}, {}, {}, {}},
                {kBf16, kBf16, kBf16, "", "Scalar", "Scalar"},
                {"", "", "", "", "0.", "True"}};
    CHECK(macs_of(any_layer_of(op)) == Count{2} * 2 * 8 * 64 * (128 * 129 / 2));
    op.name = "flash_attn::_flash_attn_forward"; // and ends at the last in FlashAttention
    op.input_dims = {{2, 128, 8, 64}, {2, 256, 8, 64}, {2, 256, 8, 64}, {}, {}, {}};
    CHECK(macs_of(any_layer_of(op)) == Count{2} * 2 * 8 * 64 * (128 * 128 + 128 * 129 / 2));
}

TEST_CASE("values of another width than keys are multiplied with theirs") {
    const Operator op{"aten::_scaled_dot_product_efficient_attention",
                      {{1, 16, 300, 192}, {1, 16, 700, 192}, {1, 16, 700, 128}, {}, {}, {}, {}},
                      {kBf16, kBf16, kBf16, "", "Scalar", "Scalar", "Scalar"},
                      {"", "", "", "", "False", "0.", "False"}};
    CHECK(macs_of(any_layer_of(op)) == Count{16} * 300 * 700 * (192 + 128));
}

TEST_CASE("a matrix half as wide as deep is not packed where its type has arithmetic") {
    const std::string fp8 = "c10::Float8_e4m3fn";
    const Operator op{"_C::cutlass_scaled_mm",
                      {{64, 256}, {64, 512}, {512, 256}, {64, 1}, {1, 256}},
                      {kBf16, fp8, fp8, "float", "float"},
                      {}};
    CHECK(macs_of(custom_gemm_of(op)) == Count{64} * 512 * 256);
}

TEST_CASE("a dilated convolution without a library has its own arguments") {
    const Operator op{"aten::slow_conv_dilated2d",
                      {{2, 8, 14, 14}, {16, 8, 3, 3}, {}, {16}, {}, {}, {}},
                      {"float", "float", "", "float", "", "", ""},
                      {"", "", "[3, 3]", "", "[1, 1]", "[0, 0]", "[2, 2]"}};
    CHECK(macs_of(any_layer_of(op)) == Count{2} * 16 * 10 * 10 * 8 * 9);
}

} // namespace test_profiles_recorded_sizes
