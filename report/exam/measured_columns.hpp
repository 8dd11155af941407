// What was measured, as columns and tables for programs: of one layer, of the whole report, and of
// the machine's ceilings.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

void add_measured(std::vector<Column<analysis::LayerReport>>& columns);
void add_measured_roof(std::vector<Column<analysis::LayerReport>>& columns);
// An object, absent without a measurement.
AnswerTable measured_table(const analysis::Report& report);
// For programs and pages.
AnswerTable ceilings_of(const analysis::Report& report);

} // namespace eyeroof::report
