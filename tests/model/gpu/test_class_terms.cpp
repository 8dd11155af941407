// Which terms of products the kernels of a class have.
#include "model/gpu/predict.hpp"
#include "tests/model/gpu/plain_gpu.hpp"
#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <algorithm>

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
    const auto body_s = [&](DataType type) {
        const Layer layer = test::gemm(512, 512, 512, type);
        return kernel_of(gpu, layer, *work_of(layer), Launch::kernel, {})->body_s;
    };
    const double lanes = body_s(DataType::fp32);
    const double tensor = body_s(DataType::fp16);
    MatmulTerms& linear = gpu.calibration.linear;
    linear.fp8_share = linear.int8_share = linear.cast_cycles = linear.quantise_s = 0.5;
    linear.resident_gain = linear.resident_sharpness = 2.0;
    MatmulTerms& cores = gpu.calibration.tensor_gemm;
    cores.tlb_cost = cores.tlb_reach_mib = cores.reuse = cores.scattered_dram = 0.5;
    cores.slice_cost = cores.issue_share = 0.5;
    CHECK(body_s(DataType::fp32) == near(lanes));
    CHECK(body_s(DataType::fp16) == near(tensor));
}
