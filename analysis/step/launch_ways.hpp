// The ways to launch a step's kernels, side by side: by a framework, back to back, as a captured
// graph, and as one persistent kernel whose tiles are packed on the SMs.
#pragma once

#include "analysis/program/timeline.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace eyeroof::analysis::step {

struct LaunchWay {
    std::string name;
    double step_s = 0.0;
    std::size_t launches = 0; // calls of the host

    bool operator==(const LaunchWay&) const = default;
};

struct LaunchWays {
    std::string network, machine; // ids
    std::size_t operators = 0;
    std::vector<LaunchWay> ways; // the last is the persistent kernel, in inference
    // Of the persistent kernel: levels of the graph with a barrier between two, the barriers' time,
    // and what SMs wait for the fullest one of a level.
    std::size_t levels = 0;
    double barriers_s = 0.0, idle_s = 0.0;
    double bound_s = 0.0; // its tiles spread evenly, without a launch or a barrier

    bool operator==(const LaunchWays&) const = default;
};

// `options` gives all but the launch. Gradients have no persistent kernel.
LaunchWays launch_ways(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                       const TimelineOptions& options, bool training);

} // namespace eyeroof::analysis::step
