// Sums a report's layers: network totals and the three worst losses.
// Called by run.cpp once all layers are examined.
#pragma once

#include "analysis/exam/report.hpp"

namespace eyeroof::analysis {

// Fills report.total and report.worst from report.machine and report.layers.
void add_totals(Report& report);

// What all MACs would take if every layer ran at the peak of the units that serve its type, over
// that time: the utilization of a network whose layers have several types.
double utilization_in(const Report& report, double time_s);

} // namespace eyeroof::analysis
