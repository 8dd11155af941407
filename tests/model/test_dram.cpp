// What a DRAM channel gives by its standard and by the runs of its accesses, worked by hand.
#include "model/accelerator/dram.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

#include <utility>

namespace test_model_dram {

using namespace eyeroof;
using namespace eyeroof::model;
using tests::near;

TEST_CASE("a stream of whole rows loses refresh alone") {
    const DramRate rate = rate_of({"ddr4-3200", 2, 0, false});
    CHECK(rate.peak_bytes_per_s == near(51.2e9));
    CHECK(rate.burst_share == 1.0);
    CHECK(rate.row_share == 1.0); // 8 KiB take 320 ns, an activation 5.3
    CHECK(rate.refresh_share == near(1.0 - 360.0 / 7800.0));
    CHECK(rate.bytes_per_s() == near(51.2e9 * (1.0 - 360.0 / 7800.0)));
}

TEST_CASE("single bursts wait for activations, of which four fit into a window") {
    const DramRate rate = rate_of({"ddr4-3200", 1, 64, false});
    // 64 bytes take 2.5 ns at 25.6 GB/s; one activation each 21.25 / 4 ns.
    CHECK(rate.row_share == near(2.5 / 5.3125));
}

TEST_CASE("less than a burst is moved as one") {
    const DramRate rate = rate_of({"hbm2-2000", 1, 8, false});
    CHECK(rate.burst_share == 0.25);
    CHECK(rate.row_share == near(2.0 / 3.75)); // 32 bytes at 16 GB/s; 15 / 4 ns an activation
}

// Random transactions of 256 B and more on one HBM2 pseudo channel of 14.375 GB/s, measured on an
// Alveo card (AMD, XD099 2024.1 and UG1393): 12.6164, 13.1338, and 13.155 GB/s.
TEST_CASE("random runs of HBM2 reach what was measured, within 7 %") {
    for (const auto& [run, measured] :
         {std::pair<Count, double>{256, 12.6164}, {512, 13.1338}, {1024, 13.155}}) {
        CAPTURE(run);
        const DramRate rate = rate_of({"hbm2-2000", 1, run, false});
        CHECK(rate.bytes_per_s() / rate.peak_bytes_per_s == near(measured / 14.375, 0.07));
    }
}

TEST_CASE("bursts of one bank group come at its longer distance") {
    const DramRate apart = rate_of({"ddr4-3200", 1, 4096, false});
    const DramRate together = rate_of({"ddr4-3200", 1, 4096, true});
    CHECK(together.group_share == 0.5);
    CHECK(together.bytes_per_s() == near(0.5 * apart.bytes_per_s()));
    CHECK(rate_of({"ddr5-3200", 1, 4096, true}).group_share == 1.0);
}

TEST_CASE("longer runs of whole bursts are never slower, and no pattern beats the peak") {
    for (const DramStandard& standard : dram_standards()) {
        CAPTURE(standard.name);
        double before = 0.0;
        for (Count run = standard.burst_bytes; run <= standard.row_bytes; run *= 2) {
            const DramRate rate = rate_of({std::string(standard.name), 4, run, false});
            CHECK(rate.bytes_per_s() >= before);
            CHECK(rate.bytes_per_s() < rate.peak_bytes_per_s);
            before = rate.bytes_per_s();
        }
        CHECK(dram_standard(standard.name) == &standard);
    }
    CHECK(dram_standard("ddr9-1") == nullptr);
}

} // namespace test_model_dram
