#include "mapper/reported.hpp"

namespace eyeroof::mapper {

using namespace model;

bool counts_ramps(const Task& task) {
    return task.time == Time::reported && task.counting == Counting::eyeroof;
}

bool ramps_matter(const Task& task) {
    return counts_ramps(task) &&
           (task.objective.delay_power != 0.0 || task.constraints.max_cycles.has_value());
}

Latency reported_latency(const Task& task, const Mapping& mapping, const MappingCost& cost) {
    return counts_ramps(task) ? latency_of(task.problem, task.machine, mapping, cost)
                              : overlapped_latency(cost);
}

} // namespace eyeroof::mapper
