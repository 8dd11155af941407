// An array of memory cells that multiplies where the weights are stored, and what it is to the rest
// of the model: two levels, a clock, and the energy of a MAC.
//
// Sources: Shafiee et al., ISAAC, ISCA 2016 (bit slices of weights and inputs, columns that share
// an ADC, resolution); Jia et al., IEEE JSSC 55(9), 2020 (bit-parallel weights, bit-serial inputs).
//
//   columns of a weight       s_w = ceil(weight bits / bits of a cell)
//   evaluations of an input   s_i = ceil(input bits / bits that drive a row at a time)
//   weights side by side      floor(columns / s_w), one below the other in a position
//                             floor(rows / parallel rows)
//   cycles of a step          s_i (evaluation + columns of an ADC * conversion)
//   energy of a MAC           s_w s_i cell
//          of an input        s_i row driver, shared by all columns
//          of a column's sum  s_w s_i (ADC + shift and add), shared by all rows that drive it
//
// In a step every position does one MAC with whole words, so that the step is the core clock cycle
// of the machine: all counts, bounds, and searches hold as for any array.
#pragma once

#include "base/result.hpp"
#include "model/workload/problem.hpp"

#include <optional>
#include <string>

namespace eyeroof::model {

struct Accelerator;

struct ComputeInMemory {
    std::string name;        // "CIMU"
    double clock_hz = 0.0;   // of its control, in which cycles count
    Count rows = 1;          // of cells
    Count columns = 1;       // of cells
    int bits_per_cell = 1;   // that a cell stores
    Count parallel_rows = 1; // that drive a column at a time, at most rows
    int input_bits = 1;      // of an input that drive a row at a time: the DAC's resolution
    Count columns_per_adc = 1;
    int adc_bits = 8;
    double evaluation_cycles = 1.0; // until all columns have settled
    double conversion_cycles = 0.0; // of one column; those of an ADC one after the other
    double row_write_cycles = 1.0;  // all cells of a row
    // pJ
    double cell_pj = 0.0;       // of one cell that computes, in one evaluation
    double cell_write_pj = 0.0; // of one cell
    double driver_pj = 0.0;     // of one row in one evaluation
    double adc_pj = 0.0;        // of one conversion
    double sum_pj = 0.0;        // shift and add of one conversion
    Count input_bytes = 0;      // of the registers that drive the rows; 0: two inputs a row
    Count sum_bytes = 0;        // of the accumulators; 0: two sums a weight
    // um2
    double cell_um2 = 0.0; // 0: not known
    double adc_um2 = 0.0;
    double periphery_um2 = 0.0; // drivers, shift and add, control, of one array

    bool operator==(const ComputeInMemory&) const = default;
};

// What follows from an array and the widths of the words.
struct ArrayStep {
    Count weight_columns = 1; // s_w
    Count evaluations = 1;    // s_i
    Count weights_a_row = 1;  // positions side by side
    Count weights_a_position = 1;
    double cycles = 1.0;    // of the array's clock
    int exact_adc_bits = 1; // that would tell every sum from every other

    bool operator==(const ArrayStep&) const = default;
};

// ADC bits for exact sums: ceil(log2(parallel rows (2^cell bits - 1) (2^input bits - 1) + 1)).
ArrayStep step_of(const ComputeInMemory& array, const PerOperand<int>& word_bits);

inline constexpr const char* kRowAxis = "row";
inline constexpr const char* kColumnAxis = "column";

// Puts the array, its two levels, the clock, and the energy of a MAC into the machine. Levels that
// an array put there before are replaced; the outer levels keep their bytes per second.
void set_array(Accelerator& machine, ComputeInMemory array);

// The machine as it is described: without what set_array() made, in cycles of the array's clock.
Accelerator without_array(const Accelerator& machine);

// Square micrometres of all arrays' parts; nullopt where the description names no areas.
struct ArrayArea {
    double cells_um2 = 0.0, adcs_um2 = 0.0, periphery_um2 = 0.0; // of one array
    double all() const { return cells_um2 + adcs_um2 + periphery_um2; }

    bool operator==(const ArrayArea&) const = default;
};
std::optional<ArrayArea> area_of(const ComputeInMemory& array);

// Violated rules, by field: "array.parallel_rows". Run by validate().
Diagnostics validate(const ComputeInMemory& array, const PerOperand<int>& word_bits);

} // namespace eyeroof::model
