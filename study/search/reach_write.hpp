// Bounds that a search reaches, as text, JSON, and CSV.
#pragma once

#include "study/search/reach_report.hpp"

#include <string>

namespace eyeroof::study {

std::string reach_to_text(const ReachReport& report);
std::string reach_to_json(const ReachReport& report); // eyeroof/reach/1
std::string reach_to_csv(const ReachReport& report);  // a line a step

} // namespace eyeroof::study
