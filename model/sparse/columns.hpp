// Machines that walk over non-zero inputs and, for each, over the non-zero weights of its column,
// rows dealt out to PEs (EIE).
//
// Source: Han et al., "EIE", ISCA 2016: PE k has rows k mod P; a PE with an empty queue waits.
#pragma once

#include "model/sparse/step.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model::sparse {

struct Columns {
    Count pes = 64;
    Count lanes = 1;  // weights a PE takes a cycle
    Count queue = 8;  // inputs that a PE may be behind the fastest
    int run_bits = 4; // of the code of weights: a longer run of zeros costs a padding zero
    double clock_hz = 800e6;

    bool operator==(const Columns&) const = default;
};

// gemm, forward. Links: effectual work (1), padding zeros (2), whole steps of a PE (4), the slowest
// PE over a queue's length of columns (4). Weights stay on the chip: no DRAM.
Result<Cost> cost_of(const Columns& machine, const Layer& layer, const Densities& densities);

} // namespace eyeroof::model::sparse
