// Machines that multiply every non-zero input of a channel with every non-zero weight of it, as
// SCNN does: a vector of inputs times a vector of weights a cycle, products scattered to
// accumulators.
//
// Source: Parashar et al., "SCNN", ISCA 2017 (dataflow PT-IS-CP-sparse):
//   each PE holds a tile of the plane, all channels; for a group of Kc output channels, for a
//   channel:
//     ceil(nnz inputs / I) ceil(nnz weights / F) cycles; all PEs wait for the slowest after a
//     group.
#pragma once

#include "model/sparse/step.hpp"
#include "model/workload/layer.hpp"

namespace eyeroof::model::sparse {

struct Cartesian {
    Count rows = 8, columns = 8;           // PEs, over the plane's height and width
    Count inputs = 4, weights = 4;         // vector lengths I and F of a PE
    Count accumulators = 1024;             // entries of a PE that one group may use
    Count channels_at_once = 8;            // output channels of a group, at most
    Count input_bits = 0, output_bits = 0; // stores of a PE for compressed activations; 0: no limit
    int word_bits = 16, run_bits = 4;      // of the run-length code of activations and weights
    double clock_hz = 1e9;
    double dram_bytes_per_s = 0.0; // 0: no limit

    Count multipliers() const { return rows * columns * inputs * weights; }
    bool operator==(const Cartesian&) const = default;
};

// Convolutions and gemm, forward. A stride splits inputs and weights into phases, each a
// convolution without stride, so that no product is made in vain but at borders; channels of a
// group of a grouped convolution are a layer of their own. Products take PEs by rows of the output
// or by output channels, whichever is faster. `stored_outputs`: words that leave after pooling; 0:
// the layer's own.
// Links: effectual work, borders (2), tiles of the plane (3), vectors not full (4), slowest PE (4),
// DRAM (6). Errors: those of validate(); "not-sparse-op" for other operators and directions;
// "density" outside 0 … 1.
Result<Cost> cost_of(const Cartesian& machine, const Layer& layer, const Densities& densities,
                     Count stored_outputs = 0);

} // namespace eyeroof::model::sparse
