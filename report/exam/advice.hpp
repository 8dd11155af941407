// What would help, and the best that was measured, as tables of an exam's answer.
#pragma once

#include "analysis/advice/what_helps.hpp"
#include "analysis/trials/measured_best.hpp"
#include "report/answer/answer.hpp"

namespace eyeroof::report {

// On accelerators larger parameters and ideal steps, on GPUs changes of the scenario and of shapes.
std::vector<AnswerTable> advice_tables(const analysis::WhatHelps& advice);
// The object of an accelerator's; absent without them.
AnswerTable what_would_help_table(const std::optional<analysis::Helps>& helps);
AnswerTable tuned_table(const std::vector<analysis::tune::MeasuredBest>& rows);

} // namespace eyeroof::report
