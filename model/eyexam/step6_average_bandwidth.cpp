#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::eyexam {

namespace {

struct Demand {
    double down_bytes = 0.0;
    double up_bytes = 0.0;
};

// What at least crosses a channel, all instances together: each distinct word once.
Demand compulsory(const Problem& problem, const Accelerator& accelerator, const Channel& channel,
                  OperandSet at_home_above) {
    Demand demand;
    for (const Operand o : kAllOperands) {
        const bool absent = o == Operand::weight && !problem.has_weight;
        if (absent || !channel.operands.contains(o) || !at_home_above.contains(o)) {
            continue;
        }
        const double words = static_cast<double>(tile_elements(problem, o, problem.bounds));
        const double bytes =
            words * bytes_per_word(accelerator, channel, o, problem.zeros[index(o)]);
        (o == problem.produced ? demand.up_bytes : demand.down_bytes) += bytes;
    }
    return demand;
}

double cycles(const Channel& channel, const Demand& demand, double instances) {
    const double down = demand.down_bytes / (channel.down_bytes_per_cycle * instances);
    if (channel.half_duplex) {
        return (demand.down_bytes + demand.up_bytes) / (channel.down_bytes_per_cycle * instances);
    }
    return std::max(down, demand.up_bytes / (channel.up_bytes_per_cycle * instances));
}

// Operands whose home lies at `level` or further out. Activations that fit a level which keeps them
// between layers have their home there.
OperandSet homes_above(const Accelerator& accelerator, std::size_t level) {
    OperandSet homes;
    for (const Operand o : kAllOperands) {
        std::size_t home = accelerator.levels.size();
        for (std::size_t i = accelerator.levels.size(); i-- > 0;) {
            if (store_of(accelerator.levels[i], o) != nullptr) {
                home = i;
            }
        }
        for (std::size_t i = home; i < accelerator.levels.size(); ++i) {
            const Store* store = store_of(accelerator.levels[i], o);
            if (o != Operand::weight && store != nullptr &&
                accelerator.levels[i].keeps_between_layers) {
                home = i;
            }
        }
        if (home <= level) {
            homes.insert(o);
        }
    }
    return homes;
}

} // namespace

StepBound average_bandwidth(const Problem& problem, const Accelerator& accelerator,
                            const StepBound& before) {
    const double macs = static_cast<double>(macs_of(problem));
    StepBound bound{before.macs_per_cycle, "nothing",
                    "moving every word once over every network keeps up with the units"};
    for (std::size_t level = 0; level < accelerator.levels.size(); ++level) {
        const OperandSet homes = homes_above(accelerator, level);
        const double instances = static_cast<double>(instances_of(accelerator, level));
        for (const Channel& channel : accelerator.levels[level].channels) {
            const Demand demand = compulsory(problem, accelerator, channel, homes);
            const double limit = macs / cycles(channel, demand, instances);
            if (limit < bound.macs_per_cycle) {
                bound = {
                    limit, channel.name,
                    fmt::format(
                        FMT_COMPILE("{} must move {:.4g} bytes at least: {:.3g} MACs per byte"),
                        channel.name, demand.down_bytes + demand.up_bytes,
                        macs / (demand.down_bytes + demand.up_bytes))};
            }
        }
    }
    return bound;
}

StepBound average_bandwidth_of(const MappingCost& cost, const StepBound& before) {
    const double bound = static_cast<double>(cost.macs) / cost.cycles;
    if (bound >= before.macs_per_cycle * (1.0 - 1e-9)) {
        return {std::min(bound, before.macs_per_cycle), "nothing",
                "every network and store keeps up with the active units on average"};
    }
    return {bound, cost.cycles_limit,
            fmt::format(
                FMT_COMPILE(
                    "{} needs {:.4g} cycles for what this mapping moves; the units need {:.4g}"),
                cost.cycles_limit, cost.cycles, static_cast<double>(cost.compute_steps))};
}

} // namespace eyeroof::model::eyexam
