#include "tests/model/gpu/small_gpus.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>

namespace test_model_gpu_gpu {

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

TEST_CASE(
    "fp32 products of AMD's matrix cores take four times the energy of fp16, not the lanes'") {
    model::Gpu mi100 = test::v100_sxm2();
    mi100.arch = model::GpuArch::amd;
    mi100.tdp_w = 200.0;
    mi100.base_hz = 0.5e9;
    mi100.rate(DataType::fp32) = {46.1e12, model::Pipe::vector};
    // 0.8 x 200 / (4 x 1.1e-12 x 46.1e12 = 202.8)
    CHECK(model::sustained_clock_share(mi100, DataType::fp32) == near(0.789, 0.001));
    mi100.rate(DataType::fp16).pipe = model::Pipe::vector; // as before CDNA: the lanes
    // 0.8 x 200 / (8.8e-12 x 46.1e12 = 405.7)
    CHECK(model::sustained_clock_share(mi100, DataType::fp32) == near(0.3944, 0.001));
}

TEST_CASE(
    "AMD's matrix cores may serve fp32 beyond the lanes, NVIDIA's peak is that of the lanes") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.sms = 120;
    gpu.boost_hz = 1.502e9;
    gpu.rate(DataType::fp32) = {46.1e12, model::Pipe::vector}; // 256 a CU and cycle, lanes 128
    CHECK_FALSE(model::peak_fits(gpu, DataType::fp32));
    gpu.arch = model::GpuArch::amd;
    CHECK(model::fitting_peak(gpu, DataType::fp32) == near(120 * 1.502e9 * 256, 1e-6));
    CHECK(model::peak_fits(gpu, DataType::fp32));
    gpu.rate(DataType::fp32).flops_per_s = 23.1e12; // the lanes alone
    CHECK(model::fitting_peak(gpu, DataType::fp32) == near(120 * 1.502e9 * 128, 1e-6));
}

TEST_CASE("matrix cores of AMD's later generations take less energy") {
    model::Gpu gpu = test::v100_sxm2();
    gpu.arch = model::GpuArch::amd;
    gpu.base_hz = 0.1e9;
    gpu.tdp_w = 750.0;
    gpu.rate(DataType::fp16) = {1307e12, model::Pipe::tensor};
    const auto clock_of = [&](const char* compute_capability) {
        gpu.compute_capability = compute_capability;
        return model::sustained_clock_share(gpu, DataType::fp16);
    };
    CHECK(clock_of("gfx90a") == near(600.0 / (1.1 * 1307.0), 1e-3));
    CHECK(clock_of("gfx942") == near(600.0 / (0.72 * 1307.0), 1e-3));
    CHECK(clock_of("gfx950") == near(600.0 / (0.64 * 1307.0), 1e-3));
}

TEST_CASE("tiles are read from chiplets' own caches where there are any") {
    model::Gpu gpu = test::v100_sxm2(); // 2.7 TB/s from the L2
    CHECK(model::tile_bandwidth(gpu) == near(2.7e12));
    gpu.near_l2_bytes_per_s = 10e12;
    CHECK(model::tile_bandwidth(gpu) == near(6.5e12)); // 0.65 of their peak
    CHECK(model::l2_bandwidth(gpu) == near(2.7e12));
    CHECK(model::l2_port_bandwidth(gpu) == near(10e12)); // no bound below what is offered
    gpu.near_l2_bytes_per_s = 1e12;                      // slower than the L2: it tells nothing
    CHECK(model::tile_bandwidth(gpu) == near(2.7e12));
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

TEST_CASE("each figure of a GPU that cannot be is named by its field, and alone") {
    using model::Gpu;
    static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const std::pair<const char*, void (*)(Gpu&)> wrong[] = {
        {"sms", [](Gpu& g) { g.sms = 0; }},
        {"fp32_lanes", [](Gpu& g) { g.fp32_lanes = 0; }},
        {"clocks.boost", [](Gpu& g) { g.boost_hz = g.base_hz = 0.0; }},
        {"clocks.base", [](Gpu& g) { g.base_hz = 1.001 * g.boost_hz; }},
        {"clocks.tensor", [](Gpu& g) { g.tensor_hz = -1.0; }},
        {"dram.bandwidth", [](Gpu& g) { g.dram_bytes_per_s = 0.0; }},
        {"dram.capacity", [](Gpu& g) { g.dram_bytes = nan; }},
        {"l2.bandwidth", [](Gpu& g) { g.l2_bytes_per_s = nan; }},
        {"l2.near_bandwidth", [](Gpu& g) { g.near_l2_bytes_per_s = -1.0; }},
        {"l2.capacity", [](Gpu& g) { g.l2_bytes = 0.99 * g.shared_bytes_per_sm; }},
        {"l2.capacity", [](Gpu& g) { g.l2_bytes = 1.01 * g.dram_bytes; }},
        {"sm.registers", [](Gpu& g) { g.registers_bytes_per_sm = 0.5; }},
        {"links.pcie", [](Gpu& g) { g.pcie_bytes_per_s = -1.0; }},
        {"links.peer", [](Gpu& g) { g.link_bytes_per_s = -1.0; }},
        {"tdp", [](Gpu& g) { g.tdp_w = nan; }},
        {"peaks.fp16", [](Gpu& g) { g.rate(model::DataType::fp16).flops_per_s = 0.5; }},
        {"peaks", [](Gpu& g) { g.rates = {}; }},
        {"prices.buy_usd", [](Gpu& g) { g.price.buy_usd = -1.0; }},
        {"prices.usd_per_hour_low",
         [](Gpu& g) { g.price.usd_per_hour_low = 2.0, g.price.usd_per_hour_high = 1.99; }},
        {"prices.usd_per_hour_high", [](Gpu& g) { g.price.usd_per_hour_high = nan; }},
    };
    for (const auto& [field, change] : wrong) {
        CAPTURE(std::string(field));
        Gpu gpu = test::a100_sxm_40();
        gpu.shared_bytes_per_sm = 164.0 * 1024.0;
        change(gpu);
        const Diagnostics found = model::validate(gpu);
        REQUIRE(found.size() == 1);
        CHECK(found.items().front().field == field);
    }
}

} // namespace test_model_gpu_gpu
