// Tensor cores that select: of every `group` weights along k at most `kept` are not zero, and the
// core reads whole groups of the other operand and picks what meets a weight.
//
// Sources: Mishra et al., "Accelerating Sparse Deep Neural Networks", arXiv 2104.08378; why 2:8
// gains little over 2:4 on the same memory, Wu et al., "Sparseloop", MICRO 2022.
#pragma once

#include "model/sparse/step.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model::sparse {

struct Selection {
    Count group = 4, kept = 2;          // 2:4
    double macs_per_cycle = 1024.0;     // dense
    double input_bytes_per_cycle = 0.0; // of the store that feeds the unit; 0: no limit
    Count rows_at_once = 1;             // output rows that one read of inputs serves
    double clock_hz = 1e9;
    double dram_bytes_per_s = 0.0;
    int word_bits = 8;

    bool operator==(const Selection&) const = default;
};

// gemm and convolutions (as products), forward. A density of weights above kept / group cannot be
// skipped: the layer runs dense; below it zeros beyond the structure gain nothing. Links: effectual
// work (1), what the structure skips (2), reading whole groups of inputs (6), DRAM (6).
Result<Cost> cost_of(const Selection& machine, const Layer& layer, const Densities& densities);

} // namespace eyeroof::model::sparse
