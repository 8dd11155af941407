// A comparison of search strategies, as text, JSON, CSV, and SVG.
#pragma once

#include "study/tune/compare.hpp"

#include <string>

namespace eyeroof::study::tune {

std::string comparison_text(const Comparison& comparison);
std::string comparison_json(const Comparison& comparison); // schema eyeroof/tune-comparison/1
std::string comparison_csv(const Comparison& comparison);
// Median share of the best known against trials, a line for each contender.
std::string comparison_svg(const Comparison& comparison);

} // namespace eyeroof::study::tune
