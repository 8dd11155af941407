// Sums a report's layers: network totals and the three worst losses.
#pragma once

#include "analysis/exam/report.hpp"

namespace eyeroof::analysis {

// Fills report.total and report.worst from report.machine and report.layers.
void add_totals(Report& report);

// Utilization of a network whose layers have several types: the time of all MACs, each layer at
// the peak of the units that run its type, over `time_s`.
double utilization_in(const Report& report, double time_s);

} // namespace eyeroof::analysis
