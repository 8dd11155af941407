// The difference of two measured runs, as text, Markdown, JSON, CSV, and HTML.
#pragma once

#include "study/diff/run_diff.hpp"

#include <string>

namespace eyeroof::study {

std::string run_diff_text(const RunDiff& diff);
std::string run_diff_markdown(const RunDiff& diff);
std::string run_diff_json(const RunDiff& diff); // eyeroof/run-diff/1
std::string run_diff_csv(const RunDiff& diff);  // a line a row
std::string run_diff_html(const RunDiff& diff); // one page

} // namespace eyeroof::study
