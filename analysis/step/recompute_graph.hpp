// Recomputation on graphs that cannot be cut into a chain: operators run again, the cheapest per
// byte first.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/memory.hpp"

#include <optional>

namespace eyeroof::analysis::step {

struct GraphRecomputation {
    Graph graph;           // with the operators that run again, just before they are needed
    double added_s = 0.0;  // of these
    std::size_t again = 0; // how many
    Count peak = 0;        // bytes, of that graph
    // No schedule of this graph needs less: what is there all the time, and the operands of the
    // operator that has most.
    Count floor = 0;
};

// Forward operators are ordered by time / bytes that their outputs keep for gradients; of ever
// longer beginnings of that list, dropped after the forward half and run again before their first
// gradient, the first whose peak is within `target`, else the one of least peak. An operator whose
// inputs were dropped too has these run again first. Not optimal; the peak is exact (memory_of),
// and `floor` bounds what is missed. Nothing for inference, and where nothing is kept.
std::optional<GraphRecomputation> recompute_cheapest(const Graph& graph, const Costs& costs,
                                                     const std::vector<Count>& workspaces,
                                                     Count target, double host_s);

} // namespace eyeroof::analysis::step
