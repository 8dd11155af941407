// The report as Markdown tables, for issues, pull requests and notes.
// Called by cli and gui.
// Computes nothing.
#pragma once

#include "study/exam/report.hpp"

#include <string>

namespace eyeroof::study {

std::string to_markdown(const Report& report);

} // namespace eyeroof::study
