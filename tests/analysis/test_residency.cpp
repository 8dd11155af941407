// What stays on a chip over a network, on a machine with one store of 100 bytes and words of a
// byte.
#include "analysis/exam/residency.hpp"

#include <doctest/doctest.h>

namespace test_analysis_residency {

using namespace eyeroof;
using namespace eyeroof::model;

namespace {

Accelerator machine() {
    Accelerator a;
    a.word_bits = {8, 8, 8};
    a.levels.resize(2);
    for (Level& level : a.levels) {
        level.stores.push_back({});
        level.stores.front().operands = {Operand::input, Operand::weight, Operand::output};
    }
    a.levels[1].stores.front().capacity_bytes = 100;
    a.levels[1].keeps_weights = true;
    return a;
}

// Three products of a vector of n and a matrix, each of what the one before gives.
analysis::step::Graph chain(Count n) {
    Network network{"chain", "Chain", "", {}};
    for (const char* name : {"a", "b", "c"}) {
        Layer layer;
        layer.name = name;
        layer.op = Op::gemm;
        layer.shape = GemmShape{1, 1, n, n};
        layer.types = {DataType::int8, DataType::int8, DataType::int8};
        network.layers.push_back(layer);
    }
    auto graph = analysis::step::make_graph(network, std::nullopt);
    REQUIRE(graph.ok());
    return *std::move(graph);
}

bool stays(const std::vector<Accelerator>& machines, std::size_t layer, Operand o) {
    REQUIRE(machines.at(layer).levels[1].scheduled);
    return machines[layer].levels[1].scheduled->contains(o);
}

Count left(const std::vector<Accelerator>& machines, std::size_t layer) {
    return *machines.at(layer).levels[1].stores.front().capacity_bytes;
}

} // namespace

TEST_CASE("weights and activations of a small network stay, its input and output cross") {
    // 3 x 25 weights and two vectors of 5 alive at a time: 85 of 100 bytes.
    const auto machines = analysis::scheduled_machines(chain(5), machine());
    for (const std::size_t layer : {0, 1, 2}) {
        CAPTURE(layer);
        CHECK(stays(machines, layer, Operand::weight));
        CHECK(stays(machines, layer, Operand::input) == (layer > 0));
        CHECK(stays(machines, layer, Operand::output) == (layer < 2));
    }
    CHECK(left(machines, 1) == 50); // without the weights of the other two
}

TEST_CASE("weights that do not all fit stay in the order of the layers") {
    // 3 x 36 weights beside two vectors of 6: 100 - 12 - 100 / 8 holds two matrices.
    const auto machines = analysis::scheduled_machines(chain(6), machine());
    CHECK(stays(machines, 0, Operand::weight));
    CHECK(stays(machines, 1, Operand::weight));
    CHECK(!stays(machines, 2, Operand::weight));
    CHECK(left(machines, 2) == 100 - 72);
}

TEST_CASE(
    "a run of a repeated layer finds the store without the weights of the layer's other runs") {
    Network network{"repeated", "Repeated", "", {}};
    for (const Count count : {3, 1}) {
        Layer layer;
        layer.name = count > 1 ? "a" : "b";
        layer.op = Op::gemm;
        layer.shape = GemmShape{1, 1, 4, 4};
        layer.types = {DataType::int8, DataType::int8, DataType::int8};
        layer.count = count;
        network.layers.push_back(layer);
    }
    const auto graph = analysis::step::make_graph(network, std::nullopt);
    REQUIRE(graph.ok());
    const auto machines = analysis::scheduled_machines(*graph, machine());
    // 4 x 16 weights stay: any run has 16 of them itself, and 48 are of other runs.
    CHECK(stays(machines, 0, Operand::weight));
    CHECK(left(machines, 0) == 100 - 48);
    CHECK(left(machines, 1) == 100 - 48);
}

TEST_CASE("activations that are larger than the store do not stay") {
    const auto machines = analysis::scheduled_machines(chain(60), machine());
    for (const Operand o : {Operand::input, Operand::weight, Operand::output}) {
        CHECK(!stays(machines, 1, o));
    }
}

} // namespace test_analysis_residency
