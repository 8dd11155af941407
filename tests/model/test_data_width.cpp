// How wide words are at rest and while they accumulate, and what tiles take up: worked by hand.
#include "model/accelerator/data_width.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "tests/model/machines.hpp"

#include <doctest/doctest.h>

namespace test_model_data_width {

using namespace eyeroof;
using namespace eyeroof::model;

namespace {

// Memory with 8-bit results behind a bus of one byte a cycle, and a buffer that accumulates in 32.
Accelerator narrow_results() {
    Accelerator a;
    a.clock_hz = 1e9;
    a.word_bits = {8, 8, 32};
    Level memory = test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0)});
    memory.word_bits[index(Operand::output)] = 8;
    Channel bus;
    bus.name = "result bus";
    bus.operands = {Operand::output};
    bus.down_bytes_per_cycle = bus.up_bytes_per_cycle = 1;
    memory.channels = {bus};
    a.levels = {memory, test::level("buffer", {test::store(test::kAll, 0, 1e9, 1e9, 0)})};
    return a;
}

Mapping two_levels(std::vector<TemporalLoop> outside, std::vector<TemporalLoop> inside) {
    Mapping m;
    m.levels.resize(2);
    m.levels[0] = {test::kAll, std::move(outside), {}};
    m.levels[1] = {test::kAll, std::move(inside), {}};
    return m;
}

double bus_cycles(const Mapping& mapping) {
    const Problem problem = test::conv("fc", {1, 1, 1, 1, 4, 8, 1}); // K8 C4: 8 results
    const auto cost = cost_of(problem, narrow_results(), mapping);
    REQUIRE(cost.ok());
    return cost->cycles;
}

// A 1x1 convolution with stride 2: 3 of 5 rows and columns are read.
Problem strided() {
    return test::conv("1x1 s2", {1, 1, 3, 3, 1, 1, 1}, 2, 2);
}

} // namespace

TEST_CASE("results that are complete leave with the width at rest, partial sums with their own") {
    // Complete: 8 results of 1 byte take 8 cycles, the 32 MACs take longer.
    CHECK(bus_cycles(two_levels({{Dim::K, 8}}, {{Dim::C, 4}})) == 32.0);
    // C outside: each result goes up 4 times, 3 of them as a partial sum of 4 bytes:
    // 8 * (3 * 4 + 1) = 104 bytes up at one a cycle; 8 * 3 * 4 = 96 come back on their own way.
    CHECK(bus_cycles(two_levels({{Dim::C, 4}, {Dim::K, 8}}, {})) == 104.0);
}

TEST_CASE("a word on a link with coding is coded at its own width") {
    Problem problem = strided();
    problem.zeros = {0.0, 0.0, 0.5};
    Accelerator a = narrow_results();
    a.levels[0].channels[0].bits_per_nonzero = 10.0;
    const DataWidth sent = sent_width(problem, a, 0, a.levels[0].channels[0], Operand::output);
    CHECK(sent.complete == 0.625); // half of the words, 10 bits each: 5 bits instead of 8
    CHECK(sent.partial == 0.625);  // and instead of 32
    CHECK(stored_width(problem, a, 0, Operand::output) == DataWidth{1.0, 4.0});
    CHECK(stored_width(problem, a, 1, Operand::output) == DataWidth{4.0, 4.0});
    CHECK(stored_width(problem, a, 0, Operand::input) == DataWidth{1.0, 1.0});
}

TEST_CASE("under Timeloop's counting a strided window takes up its box, and must fit as such") {
    const Problem problem = strided();
    const Extents tile = loop_bounds(problem);
    CHECK(held_words(problem, Operand::input, tile, Counting::eyeroof) == 9);
    CHECK(held_words(problem, Operand::input, tile, Counting::timeloop) == 25); // 5 x 5
    Accelerator a = test::eyeriss168();
    a.levels = {test::level("memory", {test::store(test::kAll, 0, 4, 4, 1)}),
                test::level("buffer", {test::store({Operand::input}, 12, 4, 4, 1)})};
    Mapping m;
    m.levels.resize(2);
    m.levels[0].keeps = test::kAll;
    m.levels[1] = {{Operand::input}, {{Dim::P, 3}, {Dim::Q, 3}}, {}};
    CHECK(cost_of(problem, a, m).ok()); // 9 words in room for 12
    const auto boxed = cost_of(problem, a, m, Counting::timeloop);
    REQUIRE_FALSE(boxed.ok());
    CHECK(boxed.diagnostics().items().front().code == "over-capacity");
    CHECK(boxed.diagnostics().items().front().message ==
          "the tiles in buffer need 50 of its 24 bytes");
}

TEST_CASE("whole banks, once for each buffer, hold the words at rest") {
    const Problem problem = test::conv("fc", {1, 1, 1, 1, 4, 8, 1});
    Accelerator a = narrow_results();
    Store& store = a.levels[0].stores[0];
    store.bank_bytes = 10;
    store.buffers = 2;
    // 4 inputs, 32 weights, 8 results of one byte: 1, 4 and 1 banks
    const auto bytes =
        held_bytes(problem, a, 0, store, test::kAll, loop_bounds(problem), Counting::eyeroof);
    CHECK(*bytes == 2 * 10 * (1 + 4 + 1));
    // in the buffer below, 8 sums of four bytes
    CHECK(*held_bytes(problem, a, 1, a.levels[1].stores[0], {Operand::output}, loop_bounds(problem),
                      Counting::eyeroof) == 32);
}

TEST_CASE("operands in one store may cost energies of their own") {
    const Problem problem = test::conv("fc", {1, 1, 1, 1, 4, 8, 1});
    Accelerator a = narrow_results();
    a.mac_pj = 0.0;
    Store& store = a.levels[0].stores[0];
    store.read_pj = 1.0;
    store.write_pj = 1.0;
    store.own_read_pj[index(Operand::weight)] = 5.0;
    store.own_write_pj[index(Operand::output)] = 7.0;
    const auto cost = cost_of(problem, a, two_levels({{Dim::K, 8}}, {{Dim::C, 4}}));
    REQUIRE(cost.ok());
    // 4 inputs at 1, 32 weights at 5, 8 results written at 7
    CHECK(cost->energy_pj == 4 * 1.0 + 32 * 5.0 + 8 * 7.0);
}

TEST_CASE("a store that prefetches hides the next tile where both fit, and not where they do not") {
    const Problem problem = test::conv("fc", {1, 1, 1, 1, 4, 8, 1});
    Mapping m = two_levels({{Dim::K, 8}}, {{Dim::C, 4}});
    m.levels.push_back({{Operand::input}, {}, {}});
    const auto outer_stall = [&](bool prefetch, Count words) {
        Accelerator a;
        a.clock_hz = 1e9;
        Level memory = test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0)});
        Channel bus;
        bus.name = "weight bus";
        bus.operands = {Operand::weight};
        bus.down_bytes_per_cycle = 2;
        memory.channels = {bus};
        Level buffer = test::level("buffer", {test::store(test::kAll, words, 1e9, 1e9, 0)});
        buffer.stores[0].prefetch = prefetch;
        a.levels = {memory, buffer,
                    test::level("unit", {test::store({Operand::input}, 1, 1e9, 1e9, 0)})};
        const auto cost = cost_of(problem, a, m);
        REQUIRE(cost.ok());
        return latency_of(problem, a, m, *cost).outer_stall_cycles;
    };
    // 32 weights in 8 tiles of 4 at one a cycle; beside them 4 inputs and one result: 9 words
    CHECK(outer_stall(false, 100) == 32.0);
    CHECK(outer_stall(true, 100) == 4.0); // the first tile
    CHECK(outer_stall(true, 17) == 4.0);  // 4 inputs twice, 4 weights twice, one result
    CHECK(outer_stall(true, 16) == 32.0); // inputs come first, and leave 3 words
}

TEST_CASE("rules for images hold for a convolution of few channels and for nothing else") {
    Dataflow rules;
    rules.spatial = {{"channel", {Dim::C}}};
    rules.image_channels = 4;
    rules.image_spatial = {{"channel", {Dim::C, Dim::S}}};
    const auto channel_dims = [&](const Problem& problem) {
        return dataflow_for(problem, rules).spatial.front().dims;
    };
    const DimSet beside = {Dim::C, Dim::S};
    CHECK(channel_dims(test::conv("image", {7, 7, 112, 112, 3, 64, 1}, 2, 2)) == beside);
    CHECK(channel_dims(test::conv("wide", {3, 3, 56, 56, 64, 64, 1})) == DimSet{Dim::C});
    CHECK(channel_dims(test::conv("1x1", {1, 1, 56, 56, 3, 64, 1})) == DimSet{Dim::C});
    Problem depthwise = test::conv("depthwise", {3, 3, 56, 56, 1, 1, 1});
    depthwise.bounds[index(Dim::G)] = 64;
    CHECK(channel_dims(depthwise) == DimSet{Dim::C});
}

} // namespace test_model_data_width
