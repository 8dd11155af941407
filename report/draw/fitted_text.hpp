// Fits text to a width: in one line with the middle elided, or in several lines.
#pragma once

#include "report/draw/geometry.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// The whole text where it fits, else as much of both its ends as does.
std::string fitted(const std::string& text, double font_px, double width);

// Lines no wider than that, broken at blanks; a word alone may be wider. One line at least.
std::vector<std::string> wrapped_to_width(const std::string& text, double font_px, double width);

} // namespace eyeroof::report
