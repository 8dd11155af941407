// What a report calls its worst losses is worth mending.
#include "analysis/exam/run.hpp"
#include "formats/any_machine.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

namespace test_analysis_worst_losses {

using namespace eyeroof; // NOLINT

TEST_CASE("what would save nothing but a rounding error is no loss") {
    const std::filesystem::path hwdb = std::filesystem::path(tests::source_dir()) / "hwdb";
    const auto machine = formats::load_any_machine("eyeriss-v1", {hwdb});
    REQUIRE(machine.ok());
    model::Network network;
    network.layers.resize(1);
    network.layers.front().name = "fc";
    network.layers.front().shape = model::GemmShape{1, 1, 4096, 9216};
    const auto report = analysis::run(network, *machine);
    REQUIRE(report.ok());
    REQUIRE(report->worst.size() ==
            1); // the DRAM link alone; before, steps 1 and 2 "saved" 3e-17 s
    CHECK(report->worst.front().step == 6);
}

} // namespace test_analysis_worst_losses
