#include "model/gpu/matmul.hpp"
#include "tests/model/gpu/small_gpus.hpp"

#include <doctest/doctest.h>

using namespace eyeroof; // NOLINT
using model::KernelMapping;
using model::Product;

TEST_CASE("108 tiles fill an A100 once, 117 take a second wave for nine tiles") {
    const KernelMapping map{{256, 128, 1}, 1};
    // 2304/256 x 1536/128 = 9 x 12 = 108 tiles on 108 SMs
    const auto full = model::waves_of(Product{1, 2304, 1536, 4096}, map, 108);
    CHECK(full.ctas == 108.0);
    CHECK(full.full == 1.0);
    CHECK(full.efficiency == 1.0);
    // one column more: 9 x 13 = 117 tiles, 117 / 216 = 54.2 %
    const auto over = model::waves_of(Product{1, 2304, 1537, 4096}, map, 108);
    CHECK(over.ctas == 117.0);
    CHECK(over.full == 2.0);
    CHECK(over.efficiency == doctest::Approx(0.5417).epsilon(0.001));
    // 1792 x 1792: 7 x 14 = 98; 1793 x 1793: 8 x 15 = 120
    CHECK(model::waves_of(Product{1, 1792, 1792, 64}, map, 108).ctas == 98.0);
    CHECK(model::waves_of(Product{1, 1793, 1793, 64}, map, 108).ctas == 120.0);
}

TEST_CASE("one row too many costs half as many tiles again") {
    const KernelMapping map{{128, 128, 1}, 1};
    CHECK(model::waves_of(Product{1, 256, 256, 64}, map, 80).ctas == 4.0);
    const auto over = model::waves_of(Product{1, 257, 256, 64}, map, 80);
    CHECK(over.ctas == 6.0);
    CHECK(over.tile_efficiency == doctest::Approx(257.0 / 384.0));
}

TEST_CASE("the compute term is tile work over the rate of an SM, in turn") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.sms = 1;
    gpu.rate(model::DataType::fp32) = {1e12, model::Pipe::vector};
    model::MatmulTerms terms;
    terms.peak_share = 0.5;
    terms.half_intensity = 0.0;
    terms.ramp_k = 16.0;
    terms.ramp_occupancy = 0.0;
    // 256 x 128 outputs on 128 x 128 tiles: two CTAs in turn, each 2 x 128 x 128 x (64 + 16) FLOP
    // at half of 1 TFLOP/s: 2 x 2621440 / 0.5e12 = 10.486 us
    const auto t = model::matmul_compute(gpu, model::DataType::fp32, terms,
                                         Product{1, 256, 128, 64}, {{128, 128, 1}}, {1}, 8.0);
    CHECK(t.compute_s == doctest::Approx(10.486e-6).epsilon(0.001));
}

TEST_CASE("registers hold 32 Ki accumulators of an SM") {
    CHECK(model::resident_ctas({128, 128, 1}, false) == 2);
    CHECK(model::resident_ctas({256, 128, 1}, true) == 1);
    CHECK(model::resident_ctas({32, 32, 1}, true) == 8);
}

TEST_CASE("short kernels run at the boost clock, long ones at the sustained clock") {
    model::MatmulTerms terms;
    terms.sustained_clock = 0.5;
    terms.settle_s = 1e-3;
    CHECK(model::clock_share(terms, 0.0) == 1.0);
    CHECK(model::clock_share(terms, 1e-3) == doctest::Approx(0.75));
    CHECK(model::clock_share(terms, 10.0) == doctest::Approx(0.5).epsilon(0.01));
}

TEST_CASE("long k with few outputs is split among CTAs") {
    const auto gpu = test::v100_sxm2();
    const auto few = model::matmul_time(
        gpu, model::DataType::fp16, gpu.calibration.tensor_gemm, Product{1, 64, 64, 65536},
        model::library_tiles(gpu.arch, false, true), model::library_splits(false));
    CHECK(few.mapping.splits > 1);
    const auto many = model::matmul_time(
        gpu, model::DataType::fp16, gpu.calibration.tensor_gemm, Product{1, 8192, 8192, 1024},
        model::library_tiles(gpu.arch, false, true), model::library_splits(false));
    CHECK(many.mapping.splits == 1);
}
