#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;
using model::DataType;

TEST_CASE("ridge points are peak over bandwidth") {
    // 125e12 / 900e9 = 138.9 and 312e12 / 1555e9 = 200.6 FLOP per byte
    CHECK(model::ridge_flop_per_byte(test::v100_sxm2(), DataType::fp16) == near(138.9, 0.001));
    CHECK(model::ridge_flop_per_byte(test::a100_sxm_40(), DataType::fp16) == near(200.6, 0.001));
}

TEST_CASE("MAC per cycle follow from peak and clock") {
    // 125e12 / 2 / 1.53e9 = 40850, of 80 x 512 = 40960
    CHECK(model::macs_per_cycle(test::v100_sxm2(), DataType::fp16) == near(40850, 0.001));
    CHECK(model::macs_per_cycle(test::v100_sxm2(), DataType::fp8) == 0.0);
}

TEST_CASE("a 70 W card cannot hold its boost clock, a 300 W card of the same process can") {
    model::Gpu t4 = test::v100_sxm2();
    t4.arch = model::GpuArch::turing;
    t4.tdp_w = 70.0;
    t4.base_hz = 0.585e9;
    t4.boost_hz = t4.tensor_hz = 1.59e9;
    t4.rate(DataType::fp32) = {8.1e12, model::Pipe::vector};
    // 0.8 x 70 W / (14.4 pJ x 8.1e12 / s) = 56 / 116.6 = 0.480
    CHECK(model::sustained_clock_share(t4, DataType::fp32) == near(0.480, 0.002));
    // 0.8 x 300 / (14.4e-12 x 15.7e12 = 226.1) = 1.06: the boost clock
    CHECK(model::sustained_clock_share(test::v100_sxm2(), DataType::fp32) == 1.0);
    t4.tdp_w = 10.0; // never below the base clock: 585 / 1590
    CHECK(model::sustained_clock_share(t4, DataType::fp32) == near(0.368, 0.002));
}

TEST_CASE("a description that cannot be is refused with every reason at once") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.sms = 0;
    gpu.base_hz = 9e9;
    gpu.dram_bytes_per_s = -1.0;
    gpu.rates = {};
    CHECK(model::validate(gpu).size() == 4);
    CHECK(model::validate(test::a100_sxm_40()).empty());
}
