#include "mapper/reported.hpp"

#include "model/cost/leakage.hpp"

namespace eyeroof::mapper {

using namespace model;

bool counts_ramps(const Task& task) {
    return task.time == Time::reported && task.counting == Counting::eyeroof;
}

bool ramps_matter(const Task& task) {
    return counts_ramps(task) && task.time_matters();
}

Latency timed(const Task& task, const Mapping& mapping, MappingCost& cost) {
    Latency latency = counts_ramps(task) ? latency_of(task.problem, task.machine, mapping, cost)
                                         : overlapped_latency(cost);
    add_leakage(task.machine, mapping, latency.total_cycles(), cost);
    return latency;
}

} // namespace eyeroof::mapper
