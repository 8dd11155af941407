#include "base/units.hpp"
#include "model/accelerator/data_width.hpp"
#include "model/accelerator/residency.hpp"
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

double distinct_words(const Problem& problem, Operand o) {
    const bool absent = o == Operand::weight && !problem.has_weight;
    return absent ? 0.0 : static_cast<double>(tile_elements(problem, o, problem.bounds));
}

// What at least crosses a channel, all instances together: each distinct word once.
Demand compulsory(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                  const Channel& channel) {
    Demand demand;
    for (const Operand o : kAllOperands) {
        if (channel.operands.contains(o) &&
            home_range(problem, accelerator, o).innermost <= level) {
            const double bytes = distinct_words(problem, o) *
                                 sent_width(problem, accelerator, level, channel, o).complete;
            (o == problem.produced ? demand.up_bytes : demand.down_bytes) += bytes;
        }
    }
    return demand;
}

// What a store must at least read (down) and write (up), all instances together: each distinct word
// of the operands that are at home there and nowhere else. All others may pass it by.
Demand compulsory(const Problem& problem, const Accelerator& accelerator, std::size_t level,
                  const Store& store) {
    Demand demand;
    for (const Operand o : kAllOperands) {
        const HomeRange home = home_range(problem, accelerator, o);
        if (store.operands.contains(o) && home.outermost == level && home.innermost == level) {
            const double bytes =
                distinct_words(problem, o) * stored_width(problem, accelerator, level, o).complete;
            (o == problem.produced ? demand.up_bytes : demand.down_bytes) += bytes;
        }
    }
    return demand;
}

double cycles(const Channel& channel, const Demand& demand) {
    const double down = demand.down_bytes / channel.down_bytes_per_cycle;
    if (channel.half_duplex) {
        return (demand.down_bytes + demand.up_bytes) / channel.down_bytes_per_cycle;
    }
    return std::max(down, demand.up_bytes / channel.up_bytes_per_cycle);
}

// The least bound so far.
class Tightest {
  public:
    Tightest(double macs, const StepBound& before)
        : macs_(macs), bound_{before.macs_per_cycle, "nothing",
                              "moving every word once over every network and out of its home keeps "
                              "up with the units"} {}

    void consider(double cycles, std::string_view who, std::string_view what, double bytes) {
        const double limit = macs_ / cycles;
        if (limit < bound_.macs_per_cycle) {
            bound_ = {limit, std::string(who).append(what),
                      fmt::format(FMT_COMPILE("{}{} must move {} at least: {:.3g} MACs per byte"),
                                  who, what, format_si(bytes, "B", 4), macs_ / bytes)};
        }
    }
    StepBound bound() && { return std::move(bound_); }

  private:
    double macs_;
    StepBound bound_;
};

} // namespace

StepBound average_bandwidth(const Problem& problem, const Accelerator& accelerator,
                            const StepBound& before, Counting counting) {
    const double macs = static_cast<double>(macs_of(problem));
    Tightest tightest(macs, before);
    for (std::size_t i = 0; i < accelerator.levels.size(); ++i) {
        const Level& level = accelerator.levels[i];
        const double instances = static_cast<double>(instances_of(accelerator, i));
        for (const Store& store : level.stores) {
            const Demand all = compulsory(problem, accelerator, i, store);
            tightest.consider(all.down_bytes / (store.read_bytes_per_cycle * instances), level.name,
                              " read", all.down_bytes);
            tightest.consider(all.up_bytes / (store.write_bytes_per_cycle * instances), level.name,
                              " write", all.up_bytes);
        }
        for (const Channel& channel : level.channels) {
            if (counting == Counting::timeloop) {
                break;
            }
            const Demand all = compulsory(problem, accelerator, i, channel);
            const bool named = !channel.name.empty();
            tightest.consider(cycles(channel, all) / instances, named ? channel.name : level.name,
                              named ? "" : " network", all.down_bytes + all.up_bytes);
        }
    }
    return std::move(tightest).bound();
}

StepBound average_bandwidth_of(const MappingCost& cost, const StepBound& before) {
    const double bound = static_cast<double>(cost.macs) / cost.cycles;
    if (bound >= before.macs_per_cycle * (1.0 - 1e-9)) {
        return {std::min(bound, before.macs_per_cycle), "nothing",
                "every network and store keeps up with the active units on average"};
    }
    return {bound, cost.cycles_limit,
            fmt::format(
                FMT_COMPILE("{} needs {} cycles for what this mapping moves; the units need {}"),
                cost.cycles_limit, format_si(cost.cycles, "", 4),
                format_si(static_cast<double>(cost.compute_steps), "", 4))};
}

} // namespace eyeroof::model::eyexam
