// `exam --advice` on accelerators: the table of what would help, in each format. Runs nothing.
#pragma once

#include "analysis/what_if/helps.hpp"

#include <string>

namespace eyeroof::cli {

std::string helps_text(const analysis::Helps& helps);
std::string helps_markdown(const analysis::Helps& helps);
// The report's JSON with "what_would_help" in it.
std::string with_helps(const std::string& report_json, const analysis::Helps& helps);

} // namespace eyeroof::cli
