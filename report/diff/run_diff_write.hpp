// The difference of two measured runs, as text, Markdown, JSON, CSV, and HTML.
#pragma once

#include "analysis/diff/run_diff.hpp"

#include <string>

namespace eyeroof::report {

std::string run_diff_text(const analysis::RunDiff& diff);
std::string run_diff_markdown(const analysis::RunDiff& diff);
std::string run_diff_json(const analysis::RunDiff& diff); // eyeroof/run-diff/1
std::string run_diff_csv(const analysis::RunDiff& diff);  // a line a row
std::string run_diff_html(const analysis::RunDiff& diff); // one page

} // namespace eyeroof::report
