// Splits of work over devices, exact where possible: chains into stages, a choice for each layer of
// a chain, graphs over mixed devices.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace eyeroof::analysis {

// The largest of `parts` parts of a whole: at least 1.
constexpr std::int64_t part(std::int64_t whole, std::int64_t parts) {
    return std::max<std::int64_t>((whole + parts - 1) / parts, 1);
}

// One of several ways for each layer of a chain: what it costs, and what changing from the way of
// the layer before costs. change[l][a][b]: between layer l - 1 in way a and layer l in way b.
struct ChainChoice {
    std::vector<std::size_t> way; // of each layer
    double cost = 0.0;

    bool operator==(const ChainChoice&) const = default;
};
ChainChoice choose_chain(const std::vector<std::vector<double>>& cost,
                         const std::vector<std::vector<std::vector<double>>>& change);

// Tasks of a graph on heterogeneous devices. Inputs from another device cost a transfer. Tasks of
// one group run on one device, which keeps the group's tensors.
struct TaskGraph {
    struct Edge {
        std::size_t from = 0, to = 0;
        double send_s = 0.0; // between different devices

        bool operator==(const Edge&) const = default;
    };
    std::vector<std::vector<double>> task_s; // task x device
    std::vector<Edge> edges;                 // from < to
    std::vector<std::size_t> group;          // of each task, from 0; empty: each its own
    std::vector<double> held_bytes;          // of each group; empty: nothing
    std::vector<double> capacity_bytes;      // of each device; empty, or 0: no limit
    std::size_t devices() const { return task_s.empty() ? 0 : task_s.front().size(); }
};

struct Schedule {
    std::vector<std::size_t> device; // of each task
    double time_s = 0.0;             // infinite: no schedule was found that fits
    double bound_s = 0.0;            // no schedule is shorter
    bool proved = false;
    std::uint64_t nodes = 0; // that the search looked at
    bool none = false;       // no schedule fits: every one was looked at

    bool found() const { return time_s < std::numeric_limits<double>::infinity(); }
    double gap() const { return time_s > 0.0 ? 1.0 - bound_s / time_s : 0.0; }
    bool operator==(const Schedule&) const = default;
};

// List scheduling by the longest way to the end, mean times, each task where it ends first (HEFT,
// Topcuoglu, Hariri, Wu, 2002); a group follows its first task. Bound: critical path at the fastest
// devices, and all work spread evenly.
Schedule list_schedule(const TaskGraph& graph);
// Everything on one device, then one group after another on another device, in the list's order,
// while that makes it shorter; at most so many tasks and edges walked.
Schedule improved_schedule(const TaskGraph& graph, Schedule schedule,
                           std::uint64_t most_steps = 30'000'000);
// Branch and bound from there over orders and devices, one task after another where it can begin;
// exact within `most_nodes`, else the best so far with its bound.
Schedule exact_schedule(const TaskGraph& graph, std::uint64_t most_nodes = 2'000'000);

} // namespace eyeroof::analysis
