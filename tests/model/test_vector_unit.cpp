#include "model/vector_unit.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_vector_unit {

using namespace eyeroof; // NOLINT
using namespace eyeroof::model;
using eyeroof::tests::near;

namespace {

// An outer memory, and an SRAM of 1 MiB that keeps activations, with 64 lanes beside the array.
Accelerator machine() {
    Accelerator a;
    a.clock_hz = 1e9;
    a.word_bits = {8, 8, 32};
    for (const char* name : {"DRAM", "SRAM"}) {
        Level level;
        level.name = name;
        Store store;
        store.operands = {Operand::input, Operand::weight, Operand::output};
        store.read_pj = store.write_pj = level.name == "DRAM" ? 200.0 : 6.0;
        level.stores.push_back(store);
        a.levels.push_back(level);
    }
    a.levels[0].word_bits[index(Operand::output)] = 8;
    Channel bus;
    bus.operands = a.levels[0].stores[0].operands;
    bus.down_bytes_per_cycle = 16.0;
    bus.half_duplex = true;
    a.levels[0].channels.push_back(bus);
    a.levels[1].stores[0].capacity_bytes = 1 << 20;
    a.levels[1].keeps_between_layers = true;
    VectorUnit unit;
    unit.lanes = 64;
    unit.level = 1;
    unit.read_bytes_per_cycle = 64.0;
    unit.write_bytes_per_cycle = 64.0;
    unit.operation_pj = 0.5;
    a.vector_unit = unit;
    return a;
}

VectorCost cost_of(const Layer& layer, const Accelerator& a) {
    return vector_cost(layer, work_of(layer).value(), a);
}

Layer softmax(Count rows, Count columns) {
    Layer layer;
    layer.name = "softmax";
    layer.op = Op::softmax;
    layer.shape = RowsShape{rows, columns, 0};
    layer.types = {DataType::int8, DataType::int8, DataType::int8};
    return layer;
}

} // namespace

TEST_CASE("a softmax that fits the SRAM waits for lanes, not for the memory outside") {
    // 512 x 1024 words in and as many out: 1 MiB, which is all of the SRAM
    const VectorCost cost = cost_of(softmax(512, 1024), machine());
    CHECK(cost.resident);
    CHECK(cost.outer_bytes == near(0.0));
    // 5 operations an element over 64 lanes; 64 B in and 64 B out in each cycle
    CHECK(cost.compute_cycles == near(512.0 * 1024 * 5 / 64));
    CHECK(cost.port_cycles == near(512.0 * 1024 / 64));
    CHECK(cost.cycles == near(cost.compute_cycles));
    CHECK(cost.wall == VectorWall::lanes);
    CHECK(cost.energy_pj == near(512.0 * 1024 * (5 * 0.5 + 6 + 6)));
}

TEST_CASE("one row more crosses the outermost memory, and is written to the SRAM on its way") {
    const VectorCost cost = cost_of(softmax(513, 1024), machine());
    CHECK_FALSE(cost.resident);
    CHECK(cost.outer_bytes == near(2.0 * 513 * 1024));
    CHECK(cost.outer_cycles == near(2.0 * 513 * 1024 / 16));
    CHECK(cost.wall == VectorWall::outer_memory);
    CHECK(cost.energy_pj == near(513.0 * 1024 * (5 * 0.5 + 2 * 200 + 4 * 6)));
}

TEST_CASE("what passes a level takes as long as its slowest network or store") {
    Level level = machine().levels.front();
    const PassingBytes passing{{300.0, 200.0, 0.0}, {0.0, 0.0, 100.0}}; // input, weight, output
    CHECK(passing_cycles(level, passing) == near(600.0 / 16));
    CHECK(bytes_per_cycle_below(level) == near(16.0));
    CHECK(most_bytes_per_cycle(level) == near(16.0));
    level.channels[0].half_duplex = false;
    level.channels[0].up_bytes_per_cycle = 2.0;
    CHECK(passing_cycles(level, passing) == near(100.0 / 2));
    CHECK(most_bytes_per_cycle(level) == near(18.0));
    level.channels[0].operands = {Operand::input, Operand::output};
    level.channels.push_back(level.channels[0]);
    level.channels[1].operands = {Operand::weight};
    level.channels[1].down_bytes_per_cycle = 1.0;
    CHECK(passing_cycles(level, passing) == near(200.0 / 1)); // a network of its own
    CHECK(bytes_per_cycle_below(level) == near(17.0));
    CHECK(most_bytes_per_cycle(level) == near(19.0)); // weights do not go up
    level.stores[0].read_bytes_per_cycle = 0.5;
    CHECK(passing_cycles(level, passing) == near(500.0 / 0.5));
    CHECK(bytes_per_cycle_below(level) == near(0.5));
}

TEST_CASE("a rate of a function counts elements, and a unit without overlap adds its transfers") {
    Accelerator a = machine();
    a.vector_unit->rates = {{"softmax", 0.25}};
    CHECK(cost_of(softmax(64, 64), a).compute_cycles == near(64.0 * 64 / (64 * 0.25)));
    a.vector_unit->overlaps = false;
    const VectorCost sum = cost_of(softmax(64, 64), a);
    CHECK(sum.cycles == near(sum.compute_cycles + sum.port_cycles));
    Layer gelu = softmax(64, 64);
    gelu.op = Op::elementwise;
    gelu.shape = ElementwiseShape{64, 64, "gelu"};
    CHECK(vector_function(gelu) == "gelu");
    CHECK(cost_of(gelu, a).compute_cycles == near(64.0 * 64 * 9 / 64)); // of its formula
    gelu.shape = ElementwiseShape{64, 64, "copy"};
    CHECK(cost_of(gelu, a).compute_cycles == near(64.0)); // no operation, but a lane an element
}

TEST_CASE("weights of a norm come from outside even where its activations stay") {
    Layer norm = softmax(64, 256);
    norm.op = Op::layernorm;
    const VectorCost cost = cost_of(norm, machine());
    CHECK(cost.resident);
    const Work work = work_of(norm).value();
    Count weights = 0;
    for (const TensorUse& tensor : work.tensors) {
        weights += tensor.name == "weight" ? tensor.elements : 0;
    }
    CHECK(weights > 0);
    CHECK(cost.outer_bytes == near(static_cast<double>(weights)));
}

TEST_CASE("a vector unit at no level, or without lanes, is refused") {
    Accelerator a = machine();
    a.vector_unit->level = 2;
    a.vector_unit->lanes = 0;
    int found = 0;
    for (const Diagnostic& d : validate(a)) {
        found += d.field.starts_with("vector_unit") ? 1 : 0;
    }
    CHECK(found == 2);
}

} // namespace test_model_vector_unit
