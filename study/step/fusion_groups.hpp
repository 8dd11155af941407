// Which operators of a graph may run as one kernel.
// Used by fusion.cpp only.
// Knows no time: what pays is decided there.
#pragma once

#include "study/step/graph.hpp"

#include <vector>

namespace eyeroof::study::step {

// All operators in groups of one and more, in their order: pointwise ones behind the product or row
// reduction whose output they read, of as many elements; nobody outside needs what is between
// before the last of them runs.
std::vector<std::vector<OperatorId>> fusible_groups(const Graph& graph);

} // namespace eyeroof::study::step
