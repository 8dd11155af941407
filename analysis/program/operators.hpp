// The operators of a network that a program contains: all, all except fused ones, or only
// convolutions and GEMMs.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "model/workload/graph_edges.hpp"

namespace eyeroof::analysis {

// An activation fuses with the layer before it where both have the same count and elements, a batch
// normalization where that layer is a convolution or GEMM: edges read through it. Products
// alone are a chain. The name says how many operators were fused or left out; the same network
// where none was.
model::NetworkGraph with_operators(model::NetworkGraph from, Operators operators);

} // namespace eyeroof::analysis
