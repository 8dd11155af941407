#include "profiles/matching.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_profiles_matching {

using namespace eyeroof;
using namespace eyeroof::profiles;
using eyeroof::tests::near;

namespace {

model::Layer gemm_layer(const std::string& name, Count m, Count n, Count k) {
    model::Layer layer;
    layer.name = name;
    layer.shape = model::GemmShape{1, m, n, k};
    return layer;
}

model::Layer conv_layer(const std::string& name) {
    model::Layer layer;
    layer.name = name;
    layer.op = model::Op::conv2d;
    model::ConvShape shape{8, 64, 56, 56, 64, 3, 3};
    shape.pad = {1, 1};
    layer.shape = shape;
    return layer;
}

struct Made {
    ProfileBuilder built;

    Launch& launch(const std::string& kernel, const std::string& range = {}) {
        Launch made;
        made.source = built.source("s");
        made.kernel = built.kernel(kernel);
        made.range = built.range(range);
        made.duration_ns = 10.0;
        return built.profile.launches.emplace_back(made);
    }
    void launch_op(const std::string& kernel, const Operator& op, std::int64_t call) {
        Launch& made = launch(kernel);
        made.op = built.op(op);
        made.op_call = call;
    }
};

const Operator kMm = {"aten::mm", {{32, 64}, {64, 10}}, {}, {}};

} // namespace

TEST_CASE("a range that names the layer is believed before anything else but the hand") {
    Made made;
    made.launch("whatever", "eyeroof:layer=fc1;op=gemm");
    made.launch("whatever", "fc2");
    made.launch("whatever", "forward");
    const std::vector<model::Layer> layers = {gemm_layer("fc1", 1, 2, 3),
                                              gemm_layer("fc2", 1, 2, 3)};
    const auto result = match(made.built.profile, layers);
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].layer == 0);
    CHECK(result->of_launch[0].method == MatchMethod::nvtx);
    CHECK(result->of_launch[1].layer == 1);
    CHECK(result->of_launch[0].confidence > result->of_launch[1].confidence);
    CHECK(result->unmatched == std::vector<std::size_t>{2});
    const auto by_hand =
        match(made.built.profile, layers, {{.layer = "fc2", .kernel_regex = "^what"}});
    REQUIRE(by_hand.ok());
    CHECK(by_hand->of_launch[0] == Match{1, MatchMethod::manual, 1.0, "assigned by hand"});
}

TEST_CASE("dimensions find their layer, also where the product is stored transposed") {
    Made made;
    made.launch_op("kernel_a", kMm, 0);
    made.launch_op("kernel_b", {"aten::linear", {{10, 64}, {32, 64}}, {}, {}}, 1);
    made.launch_op("kernel_c", {"aten::mm", {{32, 65}, {65, 10}}, {}, {}}, 2);
    const auto result = match(made.built.profile, {gemm_layer("fc", 32, 10, 64)});
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].method == MatchMethod::op_dims);
    CHECK(result->of_launch[1].method == MatchMethod::op_dims);
    CHECK(result->of_launch[2].method == MatchMethod::none);
    CHECK(result->matched_share(made.built.profile) == near(2.0 / 3.0));
}

TEST_CASE("layers of one shape are taken in turn, and all kernels of one call go together") {
    Made made;
    made.launch_op("main", kMm, 0);
    made.launch_op("helper", kMm, 0);
    made.launch_op("main", kMm, 1);
    made.launch_op("main", kMm, 2); // the second iteration begins again
    const auto result =
        match(made.built.profile, {gemm_layer("q", 32, 10, 64), gemm_layer("k", 32, 10, 64)});
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].layer == 0);
    CHECK(result->of_launch[1].layer == 0);
    CHECK(result->of_launch[2].layer == 1);
    CHECK(result->of_launch[3].layer == 0);
    CHECK(result->of_launch[0].method == MatchMethod::order);
    CHECK(result->of_launch[0].confidence < 0.5);
}

TEST_CASE("a convolution without its stride is matched with less confidence") {
    const Operator full = {"aten::convolution",
                           {{8, 64, 56, 56}, {64, 64, 3, 3}},
                           {},
                           {"", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"}};
    Operator bare = full;
    bare.concrete_inputs.clear();
    Operator other = full;
    other.concrete_inputs[3] = "[2, 2]";
    Made made;
    made.launch_op("k", full, 0);
    made.launch_op("k", bare, 1);
    made.launch_op("k", other, 2);
    const auto result = match(made.built.profile, {conv_layer("conv2")});
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].confidence > result->of_launch[1].confidence);
    CHECK(result->of_launch[1].method == MatchMethod::op_dims);
    CHECK(result->of_launch[2].method == MatchMethod::none);
}

TEST_CASE("a name alone gives a layer only where there is a single one of its kind") {
    Made made;
    made.launch("sm80_xmma_fprop_implicit_gemm_f16");
    const auto one = match(made.built.profile, {conv_layer("conv1"), gemm_layer("fc", 1, 2, 3)});
    REQUIRE(one.ok());
    CHECK(one->of_launch[0].method == MatchMethod::category);
    CHECK(one->matched_share(made.built.profile) == 0.0);
    const auto two = match(made.built.profile, {conv_layer("conv1"), conv_layer("conv2")});
    CHECK(two->of_launch[0].method == MatchMethod::none);
}

TEST_CASE("assignments to nothing and broken expressions are refused together") {
    Made made;
    made.launch("k");
    const auto result = match(made.built.profile, {conv_layer("conv1")},
                              {{.layer = "conv9"}, {.layer = "conv1", .kernel_regex = "("}});
    REQUIRE_FALSE(result.ok());
    CHECK(result.diagnostics().size() == 2);
}

TEST_CASE("kernel names of the libraries fall into their categories") {
    CHECK(category_of("ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_tn") ==
          KernelCategory::gemm);
    CHECK(category_of("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_TNT") == KernelCategory::gemm);
    CHECK(category_of("void cutlass__5x_cudnn::Kernel<cutlass_tensorop_s1688fprop_optimized>") ==
          KernelCategory::conv);
    CHECK(category_of("flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>") ==
          KernelCategory::attention);
    CHECK(category_of("void at::native::vectorized_elementwise_kernel<4>") ==
          KernelCategory::elementwise);
    CHECK(category_of("void at::native::reduce_kernel<512, 1>") == KernelCategory::reduction);
    CHECK(category_of("my_kernel") == KernelCategory::unknown);
}

TEST_CASE("counted operations are held against 2MNK") {
    const double layer = 2.0 * 1000 * 1000 * 1000;
    CHECK(check_work(layer, layer) == WorkCheck::fits);
    // Tiles of 128: 1024 x 1024 x 1000 for 1000 cubed, 4.9 % more
    CHECK(check_work(2.0 * 1024 * 1024 * 1000, layer) == WorkCheck::padding);
    CHECK(check_work(layer / 2, layer) == WorkCheck::fewer);
    CHECK(check_work(3 * layer, layer) == WorkCheck::more);
    CHECK(check_work(0.0, layer) == WorkCheck::unknown);
}

namespace {

model::Layer backward(model::Layer layer, model::Direction direction) {
    layer.direction = direction;
    layer.name += direction == model::Direction::bwd_data ? ".bwd_data" : ".bwd_weight";
    return layer;
}

Operator convolution_backward(const std::string& mask) {
    return {"aten::convolution_backward",
            {{8, 64, 56, 56}, {8, 64, 56, 56}, {64, 64, 3, 3}},
            {},
            {"", "", "", "", "[1, 1]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1", mask}};
}

} // namespace

TEST_CASE("the gradients of a product are found by their own dimensions") {
    // y [32, 10] = x [32, 64] w [64, 10]: dx = dy w^T, dw = x^T dy, as a framework calls them
    Made made;
    made.launch_op("k", kMm, 0);
    made.launch_op("k", {"aten::mm", {{32, 10}, {10, 64}}, {}, {}}, 1);
    made.launch_op("k", {"aten::mm", {{10, 32}, {32, 64}}, {}, {}}, 2);
    const model::Layer fc = gemm_layer("fc", 32, 10, 64);
    const auto result = match(made.built.profile, {fc, backward(fc, model::Direction::bwd_weight),
                                                   backward(fc, model::Direction::bwd_data)});
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].layer == 0);
    CHECK(result->of_launch[1].layer == 2);
    CHECK(result->of_launch[2].layer == 1);
    CHECK(result->of_launch[2].method == MatchMethod::op_dims);
}

TEST_CASE("one call with both gradients gives each its kernels, with the changes of layout") {
    Made made;
    const Operator both = convolution_backward("[True, True, False]");
    made.launch_op("nchwToNhwcKernel", both, 0);
    made.launch_op("sm80_xmma_dgrad_implicit_gemm", both, 0);
    made.launch_op("nchwToNhwcKernel", both, 0);
    made.launch_op("sm80_xmma_wgrad_implicit_gemm", both, 0);
    made.launch_op("splitKreduce", both, 0);
    const auto conv = conv_layer("conv2");
    const std::vector<model::Layer> layers = {conv, backward(conv, model::Direction::bwd_weight),
                                              backward(conv, model::Direction::bwd_data)};
    const auto result = match(made.built.profile, layers);
    REQUIRE(result.ok());
    std::vector<std::size_t> found;
    for (const Match& one : result->of_launch) {
        found.push_back(one.layer);
    }
    CHECK(found == std::vector<std::size_t>{2, 2, 1, 1, 1});
}

TEST_CASE("a kernel after the last that says its gradient goes with that one") {
    Made made;
    const Operator both = convolution_backward("[True, True, False]");
    made.launch_op("sm80_xmma_wgrad_implicit_gemm", both, 0);
    made.launch_op("sm80_xmma_dgrad_implicit_gemm", both, 0);
    made.launch_op("splitKreduce", both, 0);
    const auto conv = conv_layer("conv2");
    const std::vector<model::Layer> layers = {conv, backward(conv, model::Direction::bwd_weight),
                                              backward(conv, model::Direction::bwd_data)};
    const auto result = match(made.built.profile, layers);
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].layer == 1);
    CHECK(result->of_launch[1].layer == 2);
    CHECK(result->of_launch[2].layer == 2);
}

TEST_CASE("of a profile without a launch no share is matched") {
    CHECK(MatchResult{}.matched_share(Profile{}) == 0.0);
}

TEST_CASE("a call with both gradients whose kernels do not say which is one of the weights") {
    Made made;
    made.launch_op("convolution_backward", convolution_backward("[True, True, False]"), 0);
    made.launch_op("convolution_backward", convolution_backward("[True, False, False]"), 1);
    const auto conv = conv_layer("conv2");
    const std::vector<model::Layer> layers = {conv, backward(conv, model::Direction::bwd_data),
                                              backward(conv, model::Direction::bwd_weight)};
    const auto result = match(made.built.profile, layers);
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].layer == 2);
    CHECK(result->of_launch[0].confidence < result->of_launch[1].confidence);
    CHECK(result->of_launch[0].why.find("both gradients") != std::string::npos);
    CHECK(result->of_launch[1].layer == 1); // the mask asks for the data gradient only
}

TEST_CASE("operators of another batch fit no layer, and the batches' ratio is told") {
    Made made;
    made.launch_op("k", {"aten::mm", {{256, 64}, {64, 10}}, {}, {}}, 0);
    made.launch_op("k", {"aten::mm", {{256, 10}, {10, 32}}, {}, {}}, 1);
    const std::vector<model::Layer> layers = {gemm_layer("fc1", 32, 10, 64),
                                              gemm_layer("fc2", 32, 32, 10)};
    const auto result = match(made.built.profile, layers);
    REQUIRE(result.ok());
    CHECK(result->unmatched.size() == 2);
    REQUIRE(result->batch.has_value());
    CHECK(*result->batch == BatchRatio{8, 1});
    Made same;
    same.launch_op("k", {"aten::mm", {{32, 64}, {64, 10}}, {}, {}}, 0);
    same.launch_op("k", {"aten::mm", {{32, 10}, {10, 32}}, {}, {}}, 1);
    CHECK_FALSE(match(same.built.profile, layers)->batch.has_value());
}

TEST_CASE("a shape that fits no layer says more than the kernel's name") {
    Made made;
    made.launch_op("sm80_xmma_gemm_f16", {"aten::mm", {{3, 5}, {5, 7}}, {}, {}}, 0);
    made.launch("sm80_xmma_gemm_f16");
    const auto result = match(made.built.profile, {gemm_layer("fc", 32, 10, 64)});
    REQUIRE(result.ok());
    CHECK(result->of_launch[0].method == MatchMethod::none);
    CHECK(result->of_launch[1].method == MatchMethod::category);
}

} // namespace test_profiles_matching
