// Step 7's equation, term by term, on transfers that are written down by hand.
#include "model/cost/cost.hpp"
#include "model/cost/latency_terms.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_latency_terms {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// A memory and a buffer; both send 2 bytes a cycle and take 4.
Accelerator machine() {
    Accelerator a;
    Channel channel;
    channel.operands = test::kAll;
    channel.down_bytes_per_cycle = 2.0;
    channel.up_bytes_per_cycle = 4.0;
    a.levels = {test::level("memory", {}), test::level("buffer", {}), test::level("unit", {})};
    a.levels[0].channels = {channel};
    a.levels[1].channels = {channel};
    return a;
}

// 100 cycles of computing in 50 steps and 4 passes, each ended by 3 hops.
LatencyTerms terms() {
    LatencyTerms t;
    t.edge = 1;
    t.compute_cycles = 100.0;
    t.passes = 4.0;
    t.steps = 50.0;
    t.hops = 3.0;
    t.arrays = t.outermosts = 1;
    return t;
}

LatencyCycles cycles(const LatencyTerms& t, const Accelerator& a = machine(),
                     double average = 0.0) {
    return latency_at(t, a, average);
}

} // namespace

TEST_CASE("every pass ends with its hops") {
    CHECK(cycles(terms()).on_chip_stall == near(12.0));
    CHECK(cycles(terms()).outer_stall == 0.0);
    CHECK(cycles(terms()).total() == near(112.0));
}

TEST_CASE("streams set the pace beyond their priming, which every pass begins with") {
    LatencyTerms t = terms();
    t.array[0].streaming.down_bytes = 400.0; // 200 cycles beside 100
    CHECK(cycles(t).on_chip_stall == near(100.0 + 12.0));
    t.array[0].prime_bytes = {10.0, 0.0, 0.0}; // 5 cycles of each pass are primed apart
    CHECK(cycles(t).on_chip_stall == near(180.0 - 100.0 + 4.0 * (5.0 + 3.0)));
}

TEST_CASE("directions of a channel run beside each other, or after each other at half duplex") {
    LatencyTerms t = terms();
    t.array[0].streaming = {400.0, 1200.0}; // 200 and 300 cycles
    CHECK(cycles(t).on_chip_stall == near(200.0 + 12.0));
    Accelerator a = machine();
    a.levels[1].channels[0].half_duplex = true; // 1600 bytes at 2
    CHECK(cycles(t, a).on_chip_stall == near(700.0 + 12.0));
}

TEST_CASE("bursts are waited for, those that arrive early only as far as they outlast a pass") {
    LatencyTerms t = terms();
    t.array[0].waited.down_bytes = 80.0; // 40 cycles
    CHECK(cycles(t).on_chip_stall == near(40.0 + 12.0));
    t.array[0].waited = {};
    t.array[0].hidden.down_bytes = 300.0; // 150 cycles, 100 of them beside the computing
    CHECK(cycles(t).on_chip_stall == near(50.0 + 12.0));
    t.array[0].hidden.down_bytes = 100.0;
    CHECK(cycles(t).on_chip_stall == near(12.0));
}

TEST_CASE("a pass drains the partial sums of its last step") {
    LatencyTerms t = terms();
    t.array[0].sums_up_bytes = 600.0; // 12 bytes a step, 3 cycles
    CHECK(cycles(t).on_chip_stall == near(12.0));
    t.array[0].drains = true;
    CHECK(cycles(t).on_chip_stall == near(4.0 * (3.0 + 3.0)));
}

TEST_CASE("single buffers wait for the outermost memory, while the units load their bursts") {
    LatencyTerms t = terms();
    t.outermost[0].waited.down_bytes = 500.0; // 250 cycles
    t.visits = 2.0;
    CHECK(cycles(t).outer_stall == near(250.0));
    t.array[0].waited.down_bytes = 80.0; // bursts of 10 cycles a pass meet it twice
    CHECK(cycles(t).outer_stall == near(250.0 - 2.0 * 10.0));
}

TEST_CASE("double buffers wait for their first tile, or for what outlasts the processing") {
    LatencyTerms t = terms();
    t.outermost[0].overlapped.down_bytes = 100.0; // 50 cycles in 5 tiles
    t.outermost[0].most_changes = 5.0;
    CHECK(cycles(t).outer_stall == near(10.0));
    t.outermost[0].overlapped.down_bytes = 600.0; // 300 cycles beside 112
    CHECK(cycles(t).outer_stall == near(300.0 - 112.0));
}

TEST_CASE("whatever lies between the two edges sets the pace on average") {
    CHECK(cycles(terms(), machine(), 500.0).total() == near(500.0));
    CHECK(cycles(terms(), machine(), 50.0).total() == near(112.0));
}

TEST_CASE("a unit's pipeline is emptied at the end of every pass") {
    const Problem problem = test::conv("fc", {1, 1, 8, 1, 4, 4, 1});
    Accelerator a;
    a.levels = {test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0)}),
                test::level("unit", {test::store({Operand::input}, 1, 1e9, 1e9, 0)})};
    Mapping m;
    m.levels.resize(2);
    m.levels[0].keeps = test::kAll;
    m.levels[0].temporal = {{Dim::K, 4}, {Dim::C, 4}, {Dim::P, 8}};
    m.levels[1].keeps = {Operand::input};
    const auto cost = cost_of(problem, a, m);
    REQUIRE(cost.ok());
    const double without = latency_terms(problem, a, m, *cost).hops;
    a.pipeline_stages += 5;
    CHECK(latency_terms(problem, a, m, *cost).hops == near(without + 5.0));
}

} // namespace test_model_latency_terms
