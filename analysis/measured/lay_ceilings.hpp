// Adds measured ceilings to a report: beside the numbers of the description, never instead of them.
#pragma once

#include "analysis/exam/report.hpp"
#include "model/machine/machine.hpp"
#include "profiles/measurement.hpp"

#include <vector>

namespace eyeroof::analysis {

// Fills the report's `ceilings` and each layer's `roof`: max(operations / rate of the layer's type,
// predicted bytes / bandwidth of the outermost memory), over the highest measured rate and
// bandwidth that fit; no roof where neither was measured.
void lay_ceilings(Report& report, const model::Machine& machine,
                  const std::vector<profiles::Ceiling>& ceilings);

} // namespace eyeroof::analysis
