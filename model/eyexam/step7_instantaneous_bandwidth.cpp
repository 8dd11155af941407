#include "base/units.hpp"
#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model::eyexam {

StepBound instantaneous_bandwidth(const Problem& problem, const Accelerator& accelerator,
                                  const StepBound& active, const StepBound& before) {
    const double macs = static_cast<double>(macs_of(problem));
    const double fill = accelerator.pipeline_stages - 1;
    const double busy = macs / active.macs_per_cycle + fill;
    const double cycles = std::max(macs / before.macs_per_cycle, busy);
    return {macs / cycles, macs / before.macs_per_cycle >= busy ? "nothing" : "PE pipeline",
            fmt::format(FMT_COMPILE("filling the PE pipeline once takes {:.0f} cycles"), fill)};
}

StepBound instantaneous_bandwidth_of(const Latency& latency, const MappingCost& cost) {
    return {static_cast<double>(cost.macs) / latency.total_cycles(), latency.limit,
            fmt::format(
                FMT_COMPILE("{} cycles computing, {} waiting on chip, {} for the outermost memory"),
                format_si(latency.compute_cycles, "", 4),
                format_si(latency.on_chip_stall_cycles, "", 4),
                format_si(latency.outer_stall_cycles, "", 4))};
}

} // namespace eyeroof::model::eyexam
