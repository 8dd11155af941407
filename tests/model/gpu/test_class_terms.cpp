// Which terms of products the kernels of a class have.
#include "model/gpu/predict.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace test_model_gpu_class_terms {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

bool lacks(KernelClass c, const char* term) {
    const auto unused = unused_terms(c);
    GpuCalibration constants;
    const bool has = calibration_terms(constants, c).count(term) != 0;
    const bool named = std::find(unused.begin(), unused.end(), term) != unused.end();
    REQUIRE(has != named); // either of the two
    return named;
}

} // namespace

TEST_CASE("a class has the terms of its kernels alone") {
    CHECK(lacks(KernelClass::linear, "fp8_share"));
    CHECK(lacks(KernelClass::linear, "resident_l2"));
    CHECK(lacks(KernelClass::linear, "dram_start_s"));
    CHECK_FALSE(lacks(KernelClass::tensor_gemm, "dram_start_s"));
    CHECK_FALSE(lacks(KernelClass::linear, "tlb_cost"));
    CHECK(lacks(KernelClass::tensor_gemm, "tlb_cost"));
    CHECK_FALSE(lacks(KernelClass::tensor_gemm, "cast_cycles"));
    CHECK(lacks(KernelClass::conv, "l2_share"));
    CHECK_FALSE(lacks(KernelClass::conv, "fused_share"));
    CHECK(lacks(KernelClass::tensor_conv, "fused_share"));
    CHECK_FALSE(lacks(KernelClass::tensor_conv, "layout_share"));
    CHECK(unused_terms(KernelClass::memory).empty());
    CHECK(unused_terms(KernelClass::attention).empty());
}

TEST_CASE("no time depends on a term that its class does not have") {
    Gpu gpu = test::v100_sxm2();
    const std::vector<Layer> layers = {
        test::gemm(512, 512, 512, DataType::fp32), test::gemm(128, 128, 64, DataType::fp32, 64),
        test::gemm(512, 512, 512, DataType::fp16), test::conv(64, 64, 56, 3, DataType::fp32),
        test::conv(64, 64, 56, 3, DataType::fp16)};
    const auto bodies = [&] {
        std::vector<double> seconds;
        for (Layer layer : layers) {
            for (const Direction direction :
                 {Direction::fwd, Direction::bwd_data, Direction::bwd_weight}) {
                layer.direction = layer.op == Op::conv2d ? direction : Direction::fwd;
                seconds.push_back(kernel_of(gpu, layer, *work_of(layer))->body_s);
            }
        }
        return seconds;
    };
    const auto before = bodies();
    GpuCalibration& constants = gpu.calibration;
    for (MatmulTerms* lanes : {&constants.linear, &constants.batched, &constants.conv.matmul}) {
        lanes->fp8_share = lanes->int8_share = lanes->cast_cycles = lanes->quantise_s = 0.5;
        lanes->resident_gain = lanes->resident_sharpness = 2.0;
    }
    MatmulTerms& batched = constants.batched;
    batched.scattered_dram = batched.tlb_reach_mib = batched.slice_cost = batched.split_s = 0.5;
    MatmulTerms& product = constants.conv.matmul;
    product.l2_share = product.overlap = product.split_s = product.reuse = 0.5;
    product.tlb_cost = product.tlb_reach_mib = product.slice_cost = 0.5;
    constants.conv.layout_share = constants.conv.layout_s = 0.5;
    for (MatmulTerms* cores : {&constants.tensor_gemm, &constants.tensor_conv.matmul}) {
        cores->tlb_cost = cores->tlb_reach_mib = cores->reuse = cores->scattered_dram = 0.5;
        cores->slice_cost = cores->issue_share = 0.5;
    }
    ConvTerms& winograd = constants.tensor_conv;
    winograd.fused_share = winograd.fused_s = winograd.product_cost = winograd.weight_sums = 0.5;
    const auto after = bodies();
    for (std::size_t i = 0; i < before.size(); ++i) {
        CAPTURE(i);
        CHECK(after[i] == near(before[i]));
    }
}

} // namespace test_model_gpu_class_terms
