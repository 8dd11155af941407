// Sums a report's layers: network totals and the largest losses.
#pragma once

#include "analysis/exam/report.hpp"

namespace eyeroof::analysis {

inline constexpr std::size_t kLossesKept = 3;

// Fills report.total and report.worst from report.machine and report.layers.
void add_totals(Report& report, std::size_t losses_kept = kLossesKept);

// Leaves the first `most` of report.worst that are more than rounding of the total time.
void keep_worthwhile(Report& report, std::size_t most);

// Utilization of a network whose layers have several types: the time of all MACs, each layer at
// the peak of the units that run its type, over `time_s`.
double utilization_in(const Report& report, double time_s);

} // namespace eyeroof::analysis
