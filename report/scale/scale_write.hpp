// A scaling study, as text, JSON, CSV, Markdown, SVG, and HTML.
#pragma once

#include "analysis/scale/scale.hpp"

#include <string>

namespace eyeroof::report {

std::string scale_text(const analysis::ScaleResult& result, bool details);
std::string scale_json(const analysis::ScaleResult& result); // eyeroof/scale/1
std::string scale_csv(const analysis::ScaleResult& result);
std::string scale_markdown(const analysis::ScaleResult& result);
// Samples/s against devices: every bound and the prediction.
std::string scale_svg(const analysis::ScaleResult& result);
// The picture, the table, and every count's steps, as one page without anything from outside.
std::string scale_html(const analysis::ScaleResult& result);

} // namespace eyeroof::report
