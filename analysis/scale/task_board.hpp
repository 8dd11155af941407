// Predecessors and successors of a task graph, and a lower bound of the remaining time.
#pragma once

#include "analysis/scale/split.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace eyeroof::analysis {

class TaskBoard {
  public:
    explicit TaskBoard(const TaskGraph& graph);

    const TaskGraph& graph() const { return graph_; }
    std::size_t tasks() const { return graph_.task_s.size(); }
    const std::vector<TaskGraph::Edge>& inputs(std::size_t t) const { return inputs_[t]; }
    const std::vector<TaskGraph::Edge>& outputs(std::size_t t) const { return outputs_[t]; }
    double fastest(std::size_t t) const { return fastest_[t]; }
    double tail(std::size_t t) const { return tail_[t]; } // to the end, this one included
    std::size_t group(std::size_t t) const { return graph_.group.empty() ? t : graph_.group[t]; }
    std::size_t groups() const { return groups_; }
    double held(std::size_t group) const {
        return graph_.held_bytes.empty() ? 0.0 : graph_.held_bytes[group];
    }
    bool holds(std::size_t device, double bytes) const {
        return graph_.capacity_bytes.empty() || graph_.capacity_bytes[device] <= 0.0 ||
               bytes <= graph_.capacity_bytes[device];
    }
    // When the inputs of a task are on a device.
    double arrival(std::size_t t, std::size_t device, const std::vector<std::size_t>& where,
                   const std::vector<double>& end) const;
    double bound() const; // critical path at the fastest devices, and all work spread evenly

  private:
    const TaskGraph& graph_;
    std::vector<std::vector<TaskGraph::Edge>> inputs_, outputs_;
    std::vector<double> fastest_, tail_;
    std::size_t groups_ = 0;
};

} // namespace eyeroof::analysis
