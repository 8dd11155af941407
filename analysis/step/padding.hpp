// GEMMs on operands padded with zeros.
// For the optimizations of `eyeroof improve`.
#pragma once

#include "analysis/program/costs.hpp"

namespace eyeroof::analysis::step {

struct Padded {
    std::size_t layers = 0; // whose products gain at least 1 %
    Count added_bytes = 0;  // of weights
};

// Sets the cost of each product to that of the quickest of n and k (each kept, or rounded up to 16
// bytes or to 64 elements); one that gains less than 1 % stays. Odd sizes allow loads of a part of
// 16 bytes only (model/gpu/matmul.hpp, alignment_share).
Padded pad(const Graph& graph, LayerCosts& known, Costs& costs);

} // namespace eyeroof::analysis::step
