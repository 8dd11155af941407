// Sums a report's layers: network totals and the three worst losses.
// Called by run.cpp once all layers are examined.
// Knows no machine kind.
#pragma once

#include "study/exam/report.hpp"

namespace eyeroof::study {

// Fills report.total and report.worst from report.machine and report.layers.
void add_totals(Report& report);

} // namespace eyeroof::study
