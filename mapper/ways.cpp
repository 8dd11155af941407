#include "mapper/ways.hpp"

#include "model/accelerator/words.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::mapper {

using namespace model;

double ChannelCycles::cycles(const Crossing::Words& words, OperandSet chosen,
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

std::vector<ChannelCycles> ways_of(const Task& task, std::size_t level) {
    const Problem& problem = task.problem;
    std::vector<ChannelCycles> ways;
    for (const Channel& channel : task.machine.levels[level].channels) {
        ChannelCycles way;
        way.operands = channel.operands;
        way.produced = problem.produced;
        way.results =
            static_cast<double>(tile_elements(problem, problem.produced, loop_bounds(problem)));
        way.half_duplex = channel.half_duplex;
        const double up_rate =
            channel.half_duplex ? channel.down_bytes_per_cycle : channel.up_bytes_per_cycle;
        way.drain = std::isfinite(up_rate) ? up_rate / channel.up_bytes_per_cycle : 1.0;
        for (const Operand o : kAllOperands) {
            if (channel.operands.contains(o)) {
                const WordBytes word = sent_word(problem, task.machine, level, channel, o);
                const bool sums = o == problem.produced;
                way.down[index(o)] =
                    (sums ? word.partial : word.complete) / channel.down_bytes_per_cycle;
                way.up[index(o)] = word.partial / up_rate;
                way.saved = sums ? (word.partial - word.complete) / up_rate : way.saved;
            }
        }
        ways.push_back(way);
    }
    return ways;
}

} // namespace eyeroof::mapper
