// `exam --advice` on accelerators: the table of what would help, in each format.
// Used by exam.
// Runs nothing.
#pragma once

#include "study/what_if/helps.hpp"

#include <string>

namespace eyeroof::cli {

std::string helps_text(const study::Helps& helps);
std::string helps_markdown(const study::Helps& helps);
// The report's JSON with "what_would_help" in it.
std::string with_helps(const std::string& report_json, const study::Helps& helps);

} // namespace eyeroof::cli
