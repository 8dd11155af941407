// The program after a compiler: pointwise operators and reductions fused into kernels.
#pragma once

#include "analysis/program/graph.hpp"

#include <optional>
#include <span>

namespace eyeroof::analysis::step {

// Groups of fusible_groups() as operators of Graph::fused layers. A group runs where its last
// operator stood; tensors that no operator outside reads are neither written nor read nor kept.
// `sms` is the GPU's number of SMs.
Graph fuse(const Graph& graph, double sms);

// Kernels that a fused group is launched as. A reduction of fewer rows than the SMs hold CTAs
// leaves most of the GPU idle, so a compiler sums parts of each row in a first kernel and the parts
// in a second; what needs the sums of such rows element by element is a third. Inductor splits rows
// of more than 8192 elements where there are fewer than 2 rows an SM, and channels of more than 32
// elements where there are fewer than 64 an SM (torch/_inductor/ir.py, Reduction.num_splits,
// PyTorch 2.5). Softmax has two sums, a norm one of both moments.
Count kernels_of(std::span<const model::Layer* const> group, double sms);

// Scores, what is pointwise on them, softmax, and the product with the values, as one kernel that
// keeps no scores; of the network before gradients are derived. By the edges where there are some,
// else by neighbors. The same network where there are none.
struct Rewired {
    model::Network network;
    std::optional<GraphEdges> edges;
    std::size_t replaced = 0; // runs of attention
};
Rewired with_attention(const model::Network& network, const std::optional<GraphEdges>& edges);

} // namespace eyeroof::analysis::step
