// Groups of operators that a compiler fuses into one kernel.
#pragma once

#include "analysis/program/graph.hpp"

#include <vector>

namespace eyeroof::analysis::step {

// All operators in groups of one and more, in their order: pointwise operators around at most one
// row reduction (softmax, layer norm; batch norm where nothing is trained), of equal element
// counts, each reading another member's output; no operator outside needs what is between before
// the last of them runs. Convolutions, GEMMs and attention keep kernels of their own, as Inductor
// leaves them to the libraries without max-autotune.
std::vector<std::vector<OperatorId>> fusible_groups(const Graph& graph);

// A sum, mean, or maximum of whole rows, which networks hold as pooling with one result a row.
bool reduces_whole(const model::Layer& layer);

} // namespace eyeroof::analysis::step
