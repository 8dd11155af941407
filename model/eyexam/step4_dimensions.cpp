#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace eyeroof::model::eyexam {

namespace {

Count along(const Extents& factors) {
    Count product = 1;
    for (const Count f : factors) {
        product *= f;
    }
    return product;
}

std::string placed(const Extents& factors) {
    std::string text;
    for (const Dim d : kAllDims) {
        if (factors[index(d)] > 1) {
            text += fmt::format(FMT_COMPILE("{}{}{}"), text.empty() ? "" : " x ", letter(d),
                                factors[index(d)]);
        }
    }
    return text.empty() ? "nothing" : text;
}

} // namespace

StepBound dimensions(const std::vector<FitAxis>& axes, const SpatialFit& fit) {
    StepBound bound{fit.averaged_units, "array shape", ""};
    if (!fit.exact) {
        bound.reason = "the axes together could be filled this far; no tiling does better";
        return bound;
    }
    double worst = 2.0;
    Count units = 1;
    std::string layout;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        units *= axes[a].size;
        if (axes[a].size == 1) {
            continue;
        }
        const double used =
            static_cast<double>(along(fit.factors[a])) / static_cast<double>(axes[a].size);
        if (used < worst) {
            worst = used;
            bound.limit = "axis " + axes[a].name;
        }
        layout += fmt::format(FMT_COMPILE("{}{} on {}[{}]"), layout.empty() ? "" : ", ",
                              placed(fit.factors[a]), axes[a].name, axes[a].size);
    }
    if (worst == 1.0 && fit.averaged_units == static_cast<double>(units)) {
        bound.limit = "nothing";
    }
    if (worst == 1.0 && fit.averaged_units < static_cast<double>(units)) {
        bound.limit = "last partial tile";
    }
    bound.reason =
        fmt::format(FMT_COMPILE("best layout {}: {} of {} units allocated, {:.2f} on average"),
                    layout.empty() ? "is a single unit" : layout, fit.allocated_units, units,
                    fit.averaged_units);
    return bound;
}

} // namespace eyeroof::model::eyexam
