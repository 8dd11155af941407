#include "mapper/channel_costs.hpp"

#include "model/accelerator/data_width.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::mapper {

using namespace model;

double ChannelCost::cycles(const Crossing::Words& words, OperandSet chosen,
                           double instances) const {
    double all_down = 0.0;
    double all_up = 0.0;
    for (const Operand o : kAllOperands) {
        if (!operands.contains(o) || !chosen.contains(o)) {
            continue;
        }
        all_down += words.down[index(o)] * down[index(o)];
        if (o == produced) {
            all_up +=
                words.up[index(o)] * up[index(o)] - std::min(words.up[index(o)], results) * saved;
        }
    }
    return (half_duplex ? all_down + all_up : std::max(all_down, all_up)) / instances;
}

std::vector<ChannelCost> channel_costs(const Task& task, std::size_t level) {
    const Problem& problem = task.problem;
    std::vector<ChannelCost> costs;
    for (const Channel& channel : task.machine.levels[level].channels) {
        ChannelCost channel_cost;
        channel_cost.operands = channel.operands;
        channel_cost.produced = problem.produced;
        channel_cost.results =
            static_cast<double>(tile_elements(problem, problem.produced, loop_bounds(problem)));
        channel_cost.half_duplex = channel.half_duplex;
        const double up_rate =
            channel.half_duplex ? channel.down_bytes_per_cycle : channel.up_bytes_per_cycle;
        channel_cost.drain = std::isfinite(up_rate) ? up_rate / channel.up_bytes_per_cycle : 1.0;
        for (const Operand o : kAllOperands) {
            if (channel.operands.contains(o)) {
                const DataWidth word = sent_width(problem, task.machine, level, channel, o);
                const bool sums = o == problem.produced;
                channel_cost.down[index(o)] =
                    (sums ? word.partial : word.complete) / channel.down_bytes_per_cycle;
                channel_cost.up[index(o)] = word.partial / up_rate;
                channel_cost.saved =
                    sums ? (word.partial - word.complete) / up_rate : channel_cost.saved;
            }
        }
        costs.push_back(channel_cost);
    }
    return costs;
}

} // namespace eyeroof::mapper
