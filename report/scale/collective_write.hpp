// A collective over message sizes, as text, JSON, CSV, and SVG.
#pragma once

#include "analysis/scale/collective_study.hpp"

#include <string>

namespace eyeroof::report {

std::string collective_text(const analysis::CollectiveStudy& study);
std::string collective_json(const analysis::CollectiveStudy& study); // eyeroof/collective/1
std::string collective_csv(const analysis::CollectiveStudy& study);
std::string collective_svg(const analysis::CollectiveStudy& study);

} // namespace eyeroof::report
