// The report as Markdown tables, for issues, pull requests and notes. Computes nothing.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/exam/memory_fit.hpp"

#include <string>

namespace eyeroof::report {

// `memory`: of a GPU, where it is known.
std::string to_markdown(const analysis::Report& report);

} // namespace eyeroof::report
