// The report as one self-contained HTML page: a ladder per layer, light and dark. Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/measured/traced.hpp"
#include "report/exam/memory_fit.hpp"

#include <string>

namespace eyeroof::report {

// `memory`: of a GPU, where it is known.
std::string to_html(const analysis::Report& report);
// Of a trace: its timeline, roofline and operators first.
std::string to_html(const analysis::Report& report, const analysis::Traced& traced);

} // namespace eyeroof::report
