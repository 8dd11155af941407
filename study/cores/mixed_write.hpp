// Layers on unequal cores, as text, JSON, and CSV.
#pragma once

#include "study/cores/mixed.hpp"

#include <string>

namespace eyeroof::study {

std::string mixed_text(const MixedReport& report);
std::string mixed_json(const MixedReport& report); // eyeroof/placement/1
std::string mixed_csv(const MixedReport& report);

} // namespace eyeroof::study
