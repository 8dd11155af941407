#include "model/eyexam/steps.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace eyeroof::model::eyexam {

namespace {

std::string list_dims(const Problem& problem, DimSet spatial, bool in_space) {
    std::string text;
    for (const Dim d : kAllDims) {
        const Count size = problem.bounds[index(d)];
        if (size > 1 && spatial.contains(d) == in_space) {
            text += fmt::format(FMT_COMPILE("{}{}={}"), text.empty() ? "" : ", ", letter(d), size);
        }
    }
    return text;
}

} // namespace

StepBound dataflow(const Problem& problem, DimSet spatial) {
    double parallel = 1.0;
    for (const Dim d : kAllDims) {
        parallel *= spatial.contains(d) ? static_cast<double>(problem.bounds[index(d)]) : 1.0;
    }
    const std::string serial = list_dims(problem, spatial, false);
    const std::string unrolled = list_dims(problem, spatial, true);
    if (serial.empty()) {
        return {parallel, "nothing", "the dataflow may spread every dimension in space"};
    }
    const std::string space =
        unrolled.empty() ? "no dimension is spread in space" : unrolled + " may be spread in space";
    return {parallel, "serial " + serial,
            fmt::format(FMT_COMPILE("{}; {} run in time"), space, serial)};
}

} // namespace eyeroof::model::eyexam
