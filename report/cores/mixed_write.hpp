// Layers on unequal cores, as text, JSON, and CSV.
#pragma once

#include "analysis/cores/mixed.hpp"

#include <string>

namespace eyeroof::report {

std::string mixed_text(const analysis::MixedReport& report);
std::string mixed_json(const analysis::MixedReport& report); // eyeroof/placement/1
std::string mixed_csv(const analysis::MixedReport& report);

} // namespace eyeroof::report
