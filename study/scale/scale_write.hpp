// A scaling study, as text, JSON, CSV, Markdown, SVG, and HTML.
#pragma once

#include "study/scale/scale.hpp"

#include <string>

namespace eyeroof::study {

std::string scale_text(const ScaleResult& result, bool details);
std::string scale_json(const ScaleResult& result); // eyeroof/scale/1
std::string scale_csv(const ScaleResult& result);
std::string scale_markdown(const ScaleResult& result);
// Samples/s against devices: every bound and the prediction.
std::string scale_svg(const ScaleResult& result);
// The picture, the table, and every count's steps, as one page without anything from outside.
std::string scale_html(const ScaleResult& result);

} // namespace eyeroof::study
