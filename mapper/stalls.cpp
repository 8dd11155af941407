#include "mapper/stalls.hpp"

#include "model/cost/latency.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

Stalls::Stalls(const Space& space)
    : edge_(array_edge(space.task->machine)), at_edge_(channel_costs(*space.task, edge_)),
      at_outermost_(channel_costs(*space.task, 0)) {
    const Problem& problem = space.task->problem;
    // Loops over groups move every tile; without weights some others do, too.
    none_ = problem.bounds[index(Dim::G)] > 1 || !problem.has_weight || one_step_may_do(space);
    for (const Operand o : kAllOperands) {
        if (o == Operand::weight && !problem.has_weight) {
            continue;
        }
        all_.insert(o);
        bool inside = false;
        for (std::size_t i = edge_ + 1; i < space.keeps.size(); ++i) {
            inside = inside || space.keeps[i].contains(o);
        }
        if (inside) {
            inside_.insert(o);
        }
        none_ = none_ || !inside; // it may rest instead, without a store
        if (inside && surely_late(space, edge_ + 1, o)) {
            late_edge_.insert(o);
        }
        if (edge_ > 0 && surely_late(space, 1, o)) {
            late_outer_.insert(o);
        }
    }
}

// Do the PEs stall for what arrives in the next store from this level on, whatever the tiles are?
// See arrives_early().
bool Stalls::surely_late(const Space& space, std::size_t from, Operand o) const {
    std::size_t first = from;
    while (first < space.keeps.size() && !space.keeps[first].contains(o)) {
        ++first;
    }
    if (first == space.keeps.size() || space.prefetch.late[first].contains(o)) {
        return true;
    }
    for (std::size_t i = first + 1; i < space.keeps.size(); ++i) {
        if (space.keeps[i].contains(o)) {
            return false; // where that store holds the whole tile it need not wait
        }
    }
    const Store* store = store_of(space.task->machine.levels[first], o);
    return store != nullptr && store->buffers == 1 && !store->prefetch;
}

// May the stores inside the array hold all there is, so that no loop runs outside it?
bool Stalls::one_step_may_do(const Space& space) const {
    const Task& task = *space.task;
    double below = 1.0; // instances of a level
    for (std::size_t i = 0; i < space.keeps.size(); ++i) {
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task.machine.levels[i], o);
            const bool kept = i == edge_ + 1 && space.keeps[i].contains(o) && store != nullptr;
            if (kept && store->capacity_bytes) {
                const double room = 8.0 * static_cast<double>(*store->capacity_bytes) * below;
                const auto words =
                    static_cast<double>(tile_elements(task.problem, o, loop_bounds(task.problem)));
                if (words * bits_at(task.machine, i, o) > room) {
                    return false;
                }
            }
        }
        for (const Axis& axis : task.machine.levels[i].fanout) {
            below *= static_cast<double>(axis.size);
        }
    }
    return true;
}

void Stalls::add_candidates(const std::vector<BlockOrder>& orders) {
    for (std::size_t b = 0; b <= edge_ && b < orders.size(); ++b) {
        if (inside_.contains(orders[b].stationary)) {
            candidates_.insert(orders[b].stationary);
        }
    }
}

double Stalls::least_cycles(const Crossing& crossing, double compute, double drain,
                            double instances) const {
    double outer = 0.0;
    for (const ChannelCost& channel_cost : at_outermost_) {
        outer += edge_ > 0 ? channel_cost.cycles(crossing.outer, late_outer_, 1.0) : 0.0;
    }
    double least = std::numeric_limits<double>::infinity();
    const auto resting = [&](std::optional<Operand> o) {
        OperandSet streams = all_;
        OperandSet waited;
        if (o) {
            streams.erase(*o);
            if (late_edge_.contains(*o)) {
                waited.insert(*o);
            }
        }
        double stream = compute;
        double wait = outer;
        for (const ChannelCost& channel_cost : at_edge_) {
            stream = std::max(stream, channel_cost.cycles(crossing.edge, streams, instances));
            wait = std::max(wait, channel_cost.cycles(crossing.edge, waited, instances));
        }
        least = std::min(least, stream + drain + wait);
    };
    for (const Operand o : kAllOperands) {
        if (candidates_.contains(o)) {
            resting(o);
        }
    }
    if (none_ || candidates_.size() == 0) {
        resting(std::nullopt);
    }
    return least;
}

} // namespace eyeroof::mapper
