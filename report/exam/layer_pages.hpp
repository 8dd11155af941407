// The layers of a report as tables for pages, of Markdown and HTML: equal layers in one row, each
// with its seven steps, what removing one bottleneck saves, and what was measured.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

AnswerTable layers_for_pages(const analysis::Report& report);
AnswerTable savings_table(const analysis::Report& report);
// Of a report with a measurement.
AnswerTable measured_for_pages(const analysis::Report& report);

} // namespace eyeroof::report
