// A training graph as a chain of stages, for recomputation.
// For the optimizations of `eyeroof improve`.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/memory.hpp"
#include "analysis/step/recompute.hpp"

#include <optional>

namespace eyeroof::analysis::step {

inline constexpr std::size_t kMostStages = 64;

struct GraphChain {
    Chain chain;
    // Bytes that no schedule changes: weights, their gradients, states, inputs, workspaces.
    Count fixed = 0;
};

// Cuts the forward half where a single tensor is all that later operators read (beside what was
// there before the step); at most kMostStages stages, neighbors merged. A stage's time is the sum
// of its operators' and their gradients', each at least its issue of `host_s` seconds; its tape
// what is kept for gradients; `working` the most that its operators need beside it for a moment.
// Nothing for inference, and for graphs that cannot be cut.
std::optional<GraphChain> chain_of(const Graph& graph, const Costs& costs, const Memory& memory,
                                   double host_s);

} // namespace eyeroof::analysis::step
