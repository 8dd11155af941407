// The bounds of a program, and those of its operators.
#pragma once

#include "analysis/bound/bound.hpp"
#include "analysis/bound/peaks.hpp"

#include <vector>

namespace eyeroof::analysis::bound {

struct ProgramBounds {
    Bound unfused, cached, fused, roofline;
    std::vector<Bound> of_layer; // of one run of each layer
};

// Equations: bound.hpp. `report`: of the question, on the machine of `peaks`.
ProgramBounds bounds_of(const Question& question, const Report& report, const Peaks& peaks);

} // namespace eyeroof::analysis::bound
