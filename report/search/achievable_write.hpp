// Bounds that a search reaches, as text, JSON, and CSV.
#pragma once

#include "analysis/search/achievable_report.hpp"

#include <string>

namespace eyeroof::report {

std::string achievable_to_text(const analysis::AchievableReport& report);
std::string achievable_to_json(const analysis::AchievableReport& report); // eyeroof/reach/1
std::string achievable_to_csv(const analysis::AchievableReport& report);  // a line a step

} // namespace eyeroof::report
