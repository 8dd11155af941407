#include "mapper/trivial_bound.hpp"

#include "mapper/estimate.hpp"
#include "mapper/reported.hpp"
#include "model/accelerator/data_width.hpp"

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;

namespace {

// The innermost level that may be the operand's home; none: it is not there.
PerOperand<std::optional<std::size_t>> innermost_homes(const Task& task) {
    PerOperand<std::optional<std::size_t>> homes;
    for (const Operand o : kAllOperands) {
        const std::vector<std::size_t> allowed = homes_allowed(task, o);
        if ((o != Operand::weight || task.problem.has_weight) && !allowed.empty()) {
            homes[index(o)] = *std::max_element(allowed.begin(), allowed.end());
        }
    }
    return homes;
}

} // namespace

double trivial_cycles(const Task& task) {
    double least = least_steps(task).units;
    least += ramps_matter(task) ? task.machine.pipeline_stages : 0.0;
    const auto homes = innermost_homes(task);
    double instances = 1.0; // of the level, at most
    for (std::size_t e = 0; e < task.machine.levels.size(); ++e) {
        const Level& level = task.machine.levels[e];
        for (const Channel& channel : level.channels) {
            double down = 0.0;
            double up = 0.0;
            for (const Operand o : kAllOperands) {
                if (channel.operands.contains(o) && homes[index(o)] && *homes[index(o)] <= e) {
                    const auto words = static_cast<double>(
                        tile_elements(task.problem, o, loop_bounds(task.problem)));
                    const double bytes =
                        words * sent_width(task.problem, task.machine, e, channel, o).complete;
                    (o == task.problem.produced ? up : down) += bytes;
                }
            }
            const double cycles = channel.half_duplex
                                      ? (down + up) / channel.down_bytes_per_cycle
                                      : std::max(down / channel.down_bytes_per_cycle,
                                                 up / channel.up_bytes_per_cycle);
            least =
                task.counting == Counting::eyeroof ? std::max(least, cycles / instances) : least;
        }
        for (const Axis& axis : level.fanout) {
            instances *= static_cast<double>(axis.size);
        }
    }
    return least;
}

} // namespace eyeroof::mapper
