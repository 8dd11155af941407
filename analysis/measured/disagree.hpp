// Takes a predicted time apart and puts what was counted in its parts' places.
// Called by lay_profile for each measured layer.
#pragma once

#include "analysis/exam/report.hpp"

namespace eyeroof::analysis {

// Fills predicted_s, unexplained_s, remaining_s, in_interval, work_check and disagreements of `m`,
// whose measured figures are set.
void compare(const MachineSummary& machine, const LayerReport& layer, LayerMeasurement& m);

} // namespace eyeroof::analysis
