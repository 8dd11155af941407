// The program as a compiler makes it: pointwise operators and reductions that run as one kernel.
// Called by lower().
#pragma once

#include "analysis/program/graph.hpp"

#include <optional>

namespace eyeroof::analysis::step {

// Groups of fusible_groups() as operators of Graph::fused layers. A group runs where its last
// operator stood; tensors that no operator outside reads are neither written nor read nor kept.
Graph fuse(const Graph& graph);

// Scores, what is pointwise on them, softmax, and the product with the values, as one kernel that
// keeps no scores; of the network before gradients are derived. By the wiring where there is one,
// else by neighbors. The same network where there are none.
struct Rewired {
    model::Network network;
    std::optional<GraphEdges> wiring;
    std::size_t replaced = 0; // runs of attention
};
Rewired with_attention(const model::Network& network, const std::optional<GraphEdges>& wiring);

} // namespace eyeroof::analysis::step
