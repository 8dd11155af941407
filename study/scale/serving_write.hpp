// Serving points, as text, JSON, CSV, and SVG.
#pragma once

#include "study/scale/serving.hpp"

#include <string>

namespace eyeroof::study {

std::string serving_text(const Serving& serving);
std::string serving_json(const Serving& serving); // eyeroof/serve/1
std::string serving_csv(const Serving& serving);
std::string serving_svg(const Serving& serving); // tokens/s a device against tokens/s a user

} // namespace eyeroof::study
