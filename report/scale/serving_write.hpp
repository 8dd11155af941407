// Serving points, as text, JSON, CSV, and SVG.
#pragma once

#include "analysis/scale/serving.hpp"

#include <string>

namespace eyeroof::report {

std::string serving_text(const analysis::Serving& serving);
std::string serving_json(const analysis::Serving& serving); // eyeroof/serve/1
std::string serving_csv(const analysis::Serving& serving);
std::string
serving_svg(const analysis::Serving& serving); // tokens/s per device against tokens/s per user

} // namespace eyeroof::report
