// Several operators in one persistent kernel: tiles of operators that do not wait for each other
// are packed onto the resident CTAs, with barriers between those that do. For `eyeroof timeline
// --compare-launches`.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/graph.hpp"
#include "model/gpu/gpu.hpp"

#include <cstddef>
#include <vector>

namespace eyeroof::analysis::step {

// Longest first, each to the bin that is free first (Graham 1969): at most 4/3 - 1/(3 bins) of the
// best. `times` need no order.
struct Packing {
    double end_s = 0.0;              // of the fullest bin
    std::vector<std::size_t> bin_of; // of each task
};
Packing pack(const std::vector<double>& times, std::size_t bins);

// The forward operators in levels, each after what it reads; a level's tiles packed on the resident
// CTAs, a barrier between levels:  t = launch + sum( packed level + barrier ).
struct Persistent {
    double time_s = 0.0; // of the whole graph as one kernel
    std::size_t levels = 0;
    double barriers_s = 0.0;
    double idle_s = 0.0; // of CTAs, as time of the whole GPU
};
inline constexpr double kBarrierS = 1.5e-6; // of a grid; 1 to 3 us (recalled)

// CTAs: one on each SM, which the hungriest operator leaves room for. An operator is as many equal
// tiles as SMs that it keeps busy (LayerCost::share), each for the kernel's time without its start.
Persistent persistent(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                      double launch_s);

} // namespace eyeroof::analysis::step
