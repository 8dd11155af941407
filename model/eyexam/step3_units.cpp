#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>

namespace eyeroof::model::eyexam {

StepBound units(const StepBound& before, Count units) {
    const double parallel = before.macs_per_cycle;
    const double available = static_cast<double>(units);
    const double passes = std::ceil(parallel / available);
    const double active = parallel / passes;
    if (parallel < available) {
        return {active, "too little parallel work",
                fmt::format(
                    FMT_COMPILE("{:.6g} MACs at a time for {} units: {:.1f} % of them never work"),
                    parallel, units, 100.0 * (1.0 - parallel / available))};
    }
    if (active == available) {
        return {active, "units",
                fmt::format(FMT_COMPILE("the work fills all {} units evenly"), units)};
    }
    return {
        active, "units",
        fmt::format(FMT_COMPILE("{} units; the last of {:.0f} passes is partial"), units, passes)};
}

} // namespace eyeroof::model::eyexam
