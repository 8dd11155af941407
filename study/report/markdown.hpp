// The report as Markdown tables, for issues, pull requests and notes.
// Called by cli and gui.
// Computes nothing.
#pragma once

#include "study/exam/report.hpp"
#include "study/report/memory_fit.hpp"

#include <string>

namespace eyeroof::study {

// `memory`: of a GPU, where it is known.
std::string to_markdown(const Report& report);

} // namespace eyeroof::study
