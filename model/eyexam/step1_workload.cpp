#include "base/units.hpp"
#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace eyeroof::model::eyexam {

StepBound workload(const Problem& problem) {
    const double macs = static_cast<double>(macs_of(problem));
    return {macs, "layer size",
            fmt::format(FMT_COMPILE("the layer has {}, all independent at best"),
                        format_si(macs, "MAC"))};
}

} // namespace eyeroof::model::eyexam
