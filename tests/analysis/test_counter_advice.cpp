// Rules over counters: what they say, the step that they contradict, and a gain worked by hand.
#include "analysis/measured/counter_advice.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_analysis_counter_advice {

using namespace eyeroof; // NOLINT
using eyeroof::tests::near;

namespace {

// A layer that runs three times, 4 ms each, of which nothing accounts for 1 ms.
analysis::LayerMeasurement measurement(std::vector<analysis::Disagreement> disagreements) {
    analysis::LayerMeasurement m;
    m.time_s = 4e-3;
    m.predicted_s = 1.5e-3;
    m.remaining_s = 1e-3;
    m.kernel = "gemm_kernel";
    m.disagreements = std::move(disagreements);
    return m;
}

analysis::Report report_of(const analysis::LayerMeasurement& m) {
    analysis::Report report;
    report.layers.resize(2); // the first was not measured
    report.layers[1].layer.name = "fc";
    report.layers[1].layer.count = 3;
    report.layers[1].measured = m;
    return report;
}

} // namespace

TEST_CASE("bytes beyond the predicted ones are step six, and gain what they add to the time") {
    // 1.5 ms of 4 ms, three times: 4.5 ms, and the layer runs 4 / 2.5 = 1.6 times as fast
    const auto advice = analysis::counter_advice(
        report_of(measurement({{6, "DRAM bytes", 1000.0, 2500.0, "B", 1.5e-3}})));
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].layer == 1);
    CHECK(advice[0].step == 6);
    CHECK(advice[0].kernel == "gemm_kernel");
    CHECK(advice[0].counters_say == "DRAM bytes are 2.5 kB, 1 kB predicted");
    CHECK(advice[0].gain_s == near(4.5e-3));
    CHECK(advice[0].speedup == near(1.6));
    CHECK_FALSE(advice[0].at_most);
}

TEST_CASE("a symptom gains at most what no other counter accounts for") {
    const auto advice = analysis::counter_advice(
        report_of(measurement({{5, "tensor pipe active", 80.0, 20.0, "%", std::nullopt}})));
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].counters_say == "tensor pipe active is 20 %, 80 % predicted");
    CHECK(advice[0].at_most);
    CHECK(advice[0].gain_s == near(3e-3));
    CHECK(advice[0].speedup == near(4.0 / 3.0));
}

TEST_CASE("what saves time, or costs hardly any, needs no advice") {
    const auto none = [](const analysis::Disagreement& d) {
        return analysis::counter_advice(report_of(measurement({d}))).empty();
    };
    CHECK(none({6, "DRAM bytes", 1000.0, 500.0, "B", -0.5e-3}));       // fewer
    CHECK(none({6, "DRAM bytes", 1000.0, 2000.0, "B", 0.0}));          // hidden by arithmetic
    CHECK(none({6, "DRAM bytes", 1000.0, 1200.0, "B", 3e-5}));         // below 1 % of the time
    CHECK(none({7, "clock", 1e9, 1.2e9, "Hz", -1e-4}));                // above the predicted one
    CHECK(none({4, "operations", 100.0, 50.0, "FLOP", std::nullopt})); // another algorithm
    CHECK(analysis::counter_advice({}).empty());
}

TEST_CASE("each rule names its step, and the largest gain comes first") {
    analysis::LayerMeasurement m = measurement({{7, "clock", 1.4e9, 1.0e9, "Hz", 0.4e-3},
                                                {7, "launch gaps", 1e-5, 1e-3, "s", 0.9e-3},
                                                {4, "operations", 1e6, 2e6, "FLOP", 0.6e-3},
                                                {3, "operations in fp16", 100.0, 3.0, "%", {}},
                                                {6, "L2 bytes", 1e6, 3e6, "B", {}}});
    m.occupancy_percent = 12.0;
    const auto advice = analysis::counter_advice(report_of(m));
    REQUIRE(advice.size() == 6);
    for (std::size_t i = 1; i < advice.size(); ++i) {
        CHECK(advice[i].gain_s <= advice[i - 1].gain_s);
    }
    CHECK(advice[3].counters_say.starts_with("launch gaps are 1 ms"));
    CHECK(advice[3].advice.find("CUDA graph") != std::string::npos);
    CHECK(advice[4].step == 4);
    CHECK(advice[5].counters_say == "clock is 1 GHz, 1.4 GHz predicted");
    m.occupancy_percent = 60.0; // enough warps
    CHECK(analysis::counter_advice(report_of(m)).size() == 5);
}

TEST_CASE("no counter gains more than the layer takes") {
    const auto advice = analysis::counter_advice(
        report_of(measurement({{6, "DRAM bytes", 1000.0, 9e6, "B", 9e-3}})));
    REQUIRE(advice.size() == 1);
    CHECK(advice[0].gain_s < 3 * 4e-3);
    CHECK(advice[0].speedup < 101.0);
}

} // namespace test_analysis_counter_advice
