// Step 7: when a mapping waits, worked by hand.
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

namespace test_model_latency {

using namespace eyeroof;
using namespace eyeroof::model;

namespace {

// Memory, a buffer for activations alone, a FIFO for weights, and one unit. The memory sends one
// word of weights a cycle and activations without limit; all words have 16 bits.
Accelerator weights_pass_the_buffer(int buffers) {
    Accelerator a;
    a.clock_hz = 1e9;
    Level memory = test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0)});
    Channel weights;
    weights.name = "weight bus";
    weights.operands = {Operand::weight};
    weights.down_bytes_per_cycle = 2;
    memory.channels = {weights};
    Level fifo = test::level("FIFO", {test::store({Operand::weight}, 16, 1e9, 1e9, 0)});
    fifo.stores.front().buffers = buffers;
    a.levels = {
        memory,
        test::level("buffer", {test::store({Operand::input, Operand::output}, 0, 1e9, 1e9, 0)}),
        fifo, test::level("unit", {test::store({Operand::input}, 1, 1e9, 1e9, 0)})};
    return a;
}

// K32 C4 P8: all loops over weights lie at the buffer, so the FIFO takes 16 tiles of 8 words.
Mapping loops_at_the_buffer() {
    Mapping m;
    m.levels.resize(4);
    m.levels[0].keeps = test::kAll;
    m.levels[1].keeps = {Operand::input, Operand::output};
    m.levels[1].temporal = {{Dim::K, 16}};
    m.levels[2].keeps = {Operand::weight};
    m.levels[2].temporal = {{Dim::P, 8}, {Dim::K, 2}, {Dim::C, 4}};
    m.levels[3].keeps = {Operand::input};
    return m;
}

double outer_stall(int buffers) {
    const Problem problem = test::conv("fc", {1, 1, 8, 1, 4, 32, 1});
    const Accelerator machine = weights_pass_the_buffer(buffers);
    const Mapping mapping = loops_at_the_buffer();
    const auto cost = cost_of(problem, machine, mapping);
    REQUIRE(cost.ok());
    CHECK(cost->compute_steps == 32 * 4 * 8);
    CHECK(cost->edges[0].down[index(Operand::weight)] == 32 * 4); // each weight comes once
    return latency_of(problem, machine, mapping, *cost).outer_stall_cycles;
}

} // namespace

TEST_CASE("the first tile is the one that the next store with the operand takes, past those "
          "without it") {
    // 128 weights in 16 tiles: with two buffers 1024 steps hide all but the first 8 cycles.
    CHECK(outer_stall(2) == 8.0);
}

TEST_CASE("a single buffer waits for all of its tiles, the other levels' loops or not") {
    // 16 tiles of 8 words at one word a cycle, of which a tile's burst into the unit hides nothing
    CHECK(outer_stall(1) == 128.0);
}

// Sums leave a double-buffered store: event by event, each tile is computed into the buffer that is
// free, and written once the one before it is.
double sums_leaving(int tiles, double compute, double transfer) {
    std::vector<double> written(static_cast<std::size_t>(tiles), 0.0);
    double computed = 0.0;
    double bus = 0.0;
    for (std::size_t i = 0; i < written.size(); ++i) {
        const double free = i >= 2 ? written[i - 2] : 0.0;
        computed = std::max(computed, free) + compute;
        bus = std::max(bus, computed) + transfer;
        written[i] = bus;
    }
    return bus;
}

// 16 sums of 64 products each leave one by one over a channel of their own.
Latency sums_alone(double bytes_per_cycle, int buffers) {
    Accelerator a;
    a.clock_hz = 1e9;
    a.pipeline_stages = 0;
    Level memory = test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0)});
    Channel sums;
    sums.name = "result bus";
    sums.operands = {Operand::output};
    sums.down_bytes_per_cycle = bytes_per_cycle;
    sums.up_bytes_per_cycle = bytes_per_cycle;
    memory.channels = {sums};
    Level buffer = test::level("buffer", {test::store(test::kAll, 0, 1e9, 1e9, 0)});
    buffer.stores.front().buffers = buffers;
    a.levels = {memory, buffer,
                test::level("unit", {test::store({Operand::input}, 1, 1e9, 1e9, 0)})};
    Mapping m;
    m.levels.resize(3);
    m.levels[0].keeps = test::kAll;
    m.levels[0].temporal = {{Dim::P, 16}};
    m.levels[1].keeps = test::kAll;
    m.levels[1].temporal = {{Dim::C, 64}};
    m.levels[2].keeps = {Operand::input};
    const Problem problem = test::conv("sums", {1, 1, 16, 1, 64, 1, 1});
    const auto cost = cost_of(problem, a, m);
    REQUIRE(cost.ok());
    CHECK(cost->compute_steps == 1024);
    return latency_of(problem, a, m, *cost);
}

TEST_CASE("where sums alone leave early, only the last of them is waited for") {
    CHECK(sums_alone(2.0 / 32.0, 2).outer_stall_cycles == 32.0);
    CHECK(sums_alone(2.0 / 32.0, 1).outer_stall_cycles == 512.0); // a single buffer waits for all
    for (const double transfer : {1.0, 8.0, 32.0, 64.0, 100.0, 200.0}) { // cycles of a sum
        CAPTURE(transfer);
        const double simulated = sums_leaving(16, 64.0, transfer);
        const double total = sums_alone(2.0 / transfer, 2).total_cycles();
        CHECK(total <= simulated);
        CHECK(total >= simulated - 64.0); // the model lets the bus start with the units
    }
}

} // namespace test_model_latency
