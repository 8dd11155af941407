// The ways to copy data to a device, side by side, and a host alone.
// `eyeroof timeline --compare-copies`.
#pragma once

#include "analysis/program/timeline.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis::step {

struct CopyWay {
    std::string name;    // "weights once, batches pinned" …
    double step_s = 0.0; // of each step
    double low_s = 0.0, high_s = 0.0;
    double first_s = 0.0; // once, before the first step: the weights' copy
    double moved = 0.0;   // bytes a step, both directions
    bool alone = false;   // the host by itself

    double run_s(double steps) const { return first_s + steps * step_s; }
    bool operator==(const CopyWay&) const = default;
};

struct CopyWays {
    std::string network, machine, against; // ids; no `against`: no host alone
    bool training = false;
    double steps = 1.0;
    std::vector<CopyWay> ways; // the host alone first, where one is named
};

// Nothing moved; weights once and batches each step; everything each step; both pinned and
// pageable. `options` gives all but the copies. A machine without a link to its host has the first
// way alone.
std::vector<CopyWay> copy_ways(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                               const TimelineOptions& options);
// The same step where nothing has to move: on the host itself.
CopyWay host_alone(const Graph& graph, const Costs& costs, const model::Gpu& host,
                   const TimelineOptions& options);

} // namespace eyeroof::analysis::step
