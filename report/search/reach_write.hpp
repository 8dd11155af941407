// Bounds that a search reaches, as text, JSON, and CSV.
#pragma once

#include "analysis/search/reach_report.hpp"

#include <string>

namespace eyeroof::report {

std::string reach_to_text(const analysis::ReachReport& report);
std::string reach_to_json(const analysis::ReachReport& report); // eyeroof/reach/1
std::string reach_to_csv(const analysis::ReachReport& report);  // a line a step

} // namespace eyeroof::report
