// Arrays of cells that multiply where the weights are stored, worked by hand.
#include "model/accelerator/compute_in_memory.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/technology/chip_parts.hpp"
#include "tests/model/machines.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_model_compute_in_memory {

using namespace eyeroof;
using namespace eyeroof::model;
using tests::near;

namespace {

// 4 rows and 8 columns of 2-bit cells, 2 rows at a time. Words of 4 bits: a weight takes 2 columns,
// an input 2 evaluations. 3 cycles until the columns settle, 1 for each of the 4 of an ADC.
ComputeInMemory small_array() {
    ComputeInMemory array;
    array.name = "CIM";
    array.clock_hz = 14e6;
    array.rows = 4;
    array.columns = 8;
    array.bits_per_cell = 2;
    array.parallel_rows = 2;
    array.input_bits = 2;
    array.columns_per_adc = 4;
    array.adc_bits = 4;
    array.evaluation_cycles = 3.0;
    array.conversion_cycles = 1.0;
    array.row_write_cycles = 28.0;
    array.cell_pj = 0.5;
    array.cell_write_pj = 0.25;
    array.driver_pj = 3.0;
    array.adc_pj = 5.0;
    array.sum_pj = 1.0;
    return array;
}

// A memory that costs nothing and gives everything at once, around the array.
Accelerator small_machine() {
    Accelerator a;
    a.clock_hz = 14e6;
    a.word_bits = {4, 4, 16};
    a.levels = {test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0.0)})};
    set_array(a, small_array());
    return a;
}

// A product of m by n by k, its weights at rest: rows take two of k, columns four of n.
Mapping at_rest(Count m, Count k) {
    Mapping mapping;
    mapping.levels.resize(3);
    mapping.levels[0].keeps = test::kAll;
    mapping.levels[0].temporal = {{Dim::P, m}}; // the registers hold two vectors at most
    mapping.levels[1].keeps = {Operand::input, Operand::output};
    mapping.levels[1].spatial = {{Dim::C, 2, 0}, {Dim::K, 4, 1}};
    mapping.levels[2].keeps = {Operand::weight};
    if (k > 2) {
        mapping.levels[2].temporal = {{Dim::C, k / 2}};
    }
    return mapping;
}

Problem product(Count m, Count n, Count k) {
    return test::conv("product", {1, 1, m, 1, k, n, 1});
}

} // namespace

TEST_CASE("slices of weights and inputs, shared ADCs, and cycles make the step of an array") {
    const ArrayStep step = step_of(small_array(), {4, 4, 16});
    CHECK(step.weight_columns == 2);
    CHECK(step.evaluations == 2);
    CHECK(step.weights_a_row == 4);
    CHECK(step.weights_a_position == 2);
    CHECK(step.cycles == 2.0 * (3.0 + 4.0));
    CHECK(step.exact_adc_bits == 5);                               // 2 rows of 3 times 3: 0 to 18
    CHECK(step_of(small_array(), {3, 5, 16}).weight_columns == 3); // the last one half used
}

TEST_CASE("a macro of 64 rows and 16 weights of 4 bit does 372.4 GOPS in steps of 5.5 ns") {
    // Sinangil et al., IEEE JSSC 56(1), 2021, abstract: 1024 MACs of 4 by 4 bit, 5.5 ns, 372.4
    // GOPS.
    ComputeInMemory macro = small_array();
    macro.clock_hz = 1.0 / 5.5e-9;
    macro.rows = macro.parallel_rows = 64;
    macro.columns = 64;
    macro.bits_per_cell = 1;
    macro.input_bits = 4; // as so many pulses
    macro.columns_per_adc = 1;
    macro.evaluation_cycles = 1.0;
    macro.conversion_cycles = 0.0;
    Accelerator a;
    a.word_bits = {4, 4, 16};
    a.levels = {test::level("memory", {test::store(test::kAll, 0, 1e9, 1e9, 0.0)})};
    set_array(a, macro);
    CHECK(mac_units(a) == 1024);
    CHECK(2.0 * static_cast<double>(mac_units(a)) * a.clock_hz == near(372.4e9, 2e-4));
}

TEST_CASE("an array charges cells by the MAC, drivers by the input, and ADCs by the column's sum") {
    const Accelerator machine = small_machine();
    REQUIRE(validate(machine).empty());
    CHECK(machine.clock_hz == 1e6);
    CHECK(mac_units(machine) == 8);
    const Problem problem = product(3, 4, 2);
    const auto cost = cost_of(problem, machine, at_rest(3, 2));
    REQUIRE(cost.ok());
    CHECK(cost->compute_steps == 3);
    CHECK(cost->mac_energy_pj == near(24 * 2 * 2 * 0.5));
    const auto& periphery = cost->levels[1].energy_pj;
    CHECK(periphery[index(Operand::input)] == near(6 * 2 * 3.0));               // 3 vectors, 2 rows
    CHECK(periphery[index(Operand::output)] == near(12 * 2 * 2 * (5.0 + 1.0))); // 3 vectors, 4 sums
    CHECK(cost->levels[2].energy_pj[index(Operand::weight)] == near(8 * 2 * 0.25));
    CHECK(cost->energy_pj == near(48.0 + 36.0 + 288.0 + 4.0));
}

TEST_CASE("weights of rows that take turns stay in the array, and columns wait for their writing") {
    const Accelerator machine = small_machine();
    const Problem problem = product(3, 4, 4);
    const Mapping mapping = at_rest(3, 4);
    const auto cost = cost_of(problem, machine, mapping);
    REQUIRE(cost.ok());
    CHECK(cost->compute_steps == 6); // two halves of the rows, one after the other
    CHECK(cost->edges[1].down[index(Operand::weight)] == 16);
    const Latency latency = latency_of(problem, machine, mapping, *cost);
    // 4 rows of 28 cycles each are 8 steps of 14; a last sum leaves one step later.
    CHECK(latency.on_chip_stall_cycles == near(8.0 + 1.0));
}

TEST_CASE("sums that are added at once do not drain through the rows") {
    const Accelerator machine = small_machine();
    const std::size_t edge = array_edge(machine);
    CHECK(machine.levels[edge].name == "CIM");
    CHECK(chain_hops(product(3, 4, 2), machine, edge, {{Dim::C, 2, 0}}) == 0.0);
    Accelerator chained = machine;
    chained.levels[edge].channels[2].adds_at_once = false;
    CHECK(chain_hops(product(3, 4, 2), chained, edge, {{Dim::C, 2, 0}}) == 1.0);
}

TEST_CASE("an array that is set again replaces the one before, and the memory keeps its pace") {
    Accelerator machine = small_machine();
    machine.levels[0].channels = {Channel{}};
    machine.levels[0].channels[0].name = "link";
    machine.levels[0].channels[0].operands = test::kAll;
    machine.levels[0].channels[0].down_bytes_per_cycle = 28.0;
    ComputeInMemory slower = small_array();
    slower.columns_per_adc = 8; // 2 (3 + 8) = 22 cycles
    set_array(machine, slower);
    CHECK(machine.levels.size() == 3);
    CHECK(machine.clock_hz == near(14e6 / 22));
    CHECK(machine.levels[0].channels[0].down_bytes_per_cycle == near(28.0 * 22 / 14));
    const Accelerator described = without_array(machine);
    CHECK(described.levels.size() == 1);
    CHECK(described.clock_hz == 14e6);
    CHECK(described.levels[0].channels[0].down_bytes_per_cycle == near(2.0));
}

TEST_CASE("the area of an array is that of its cells, ADCs, and periphery") {
    ComputeInMemory array = small_array();
    CHECK_FALSE(area_of(array));
    array.cell_um2 = 2.0;
    array.adc_um2 = 100.0;
    array.periphery_um2 = 50.0;
    array.columns_per_adc = 3; // 8 columns: 3 ADCs
    CHECK(area_of(array)->all() == near(32 * 2.0 + 3 * 100.0 + 50.0));
}

} // namespace test_model_compute_in_memory
