// A comparison of search strategies, as text, JSON, CSV, and SVG.
#pragma once

#include "analysis/tune_compare/compare.hpp"

#include <string>

namespace eyeroof::report {

std::string comparison_text(const analysis::tune::Comparison& comparison);
std::string
comparison_json(const analysis::tune::Comparison& comparison); // schema eyeroof/tune-comparison/1
std::string comparison_csv(const analysis::tune::Comparison& comparison);
// Median share of the best known against trials, a line for each contender.
std::string comparison_svg(const analysis::tune::Comparison& comparison);

} // namespace eyeroof::report
