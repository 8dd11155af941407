// Which operators of a graph may run as one kernel, and what that saves.
// Called by `eyeroof timeline --mode fused` and by the remedies.
// Knows no framework: what is legal follows from the graph, what it costs from the time model.
#pragma once

#include "study/step/costs.hpp"
#include "study/step/graph.hpp"

#include <vector>

namespace eyeroof::study::step {

// Of all runs of the groups, seconds.
struct Saved {
    double traffic_s = 0.0;    // tensors that stay on chip
    double scheduling_s = 0.0; // kernels' starts and tails
    std::size_t launches = 0;  // issues that fall away

    bool operator==(const Saved&) const = default;
};

struct FusedGroup {            // operators that become one, and how often
    std::uint32_t layer = 0;   // index into the fused graph's layers
    std::size_t operators = 0; // of one group
    std::size_t runs = 0;
    double before_s = 0.0, after_s = 0.0; // kernels of one run

    bool operator==(const FusedGroup&) const = default;
};

struct Fused {
    Graph graph;
    Costs costs;
    std::vector<FusedGroup> groups; // largest saving first
    Saved saved;
};

// Groups of neighbours in the graph:
//   epilogue    a product or convolution, then pointwise operators of as many elements
//   pointwise   pointwise operators of as many elements, around at most one row reduction
//               (softmax, layer norm; batch norm where nothing is trained)
// An operator joins the group of one that it reads. The group runs where its last operator stood,
// so nobody outside may read what is made inside before that, and what it reads must be there.
// Tensors that nobody outside reads are neither written nor read nor kept. A group's time: its
// product's, or one start, and sqrt(moved^2 + sm^2) of what members move from and to the outside
// and of their cycles (model/gpu/memory_op.hpp), each member's time by its share of bytes.
// Groups that the model does not find quicker are left alone.
Fused fuse(const Graph& graph, const Costs& costs, const model::Gpu& gpu);

// Scores, what is pointwise on them, softmax and the product with the values, as one kernel that
// keeps no scores; the network before gradients are derived. The same network where there are none.
struct Rewired {
    model::Network network;
    std::optional<read::Wiring> wiring;
    std::size_t replaced = 0; // runs of attention
};
Rewired with_attention(const model::Network& network, const std::optional<read::Wiring>& wiring);

} // namespace eyeroof::study::step
