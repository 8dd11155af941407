// Splits a predicted time into parts and replaces each part by its measured count.
#pragma once

#include "analysis/exam/report.hpp"

namespace eyeroof::analysis {

// Fills predicted_s, unexplained_s, remaining_s, in_interval, work_check and disagreements of `m`,
// whose measured figures are set.
void compare(const MachineSummary& machine, const LayerReport& layer, LayerMeasurement& m);

} // namespace eyeroof::analysis
