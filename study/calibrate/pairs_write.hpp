// Measured speed-ups beside predictions, as text, JSON, and CSV.
#pragma once

#include "study/calibrate/pairs.hpp"

#include <string>

namespace eyeroof::study {

std::string pairs_text(const PairsValidation& result);
std::string pairs_json(const PairsValidation& result); // eyeroof/pairs/2
std::string pairs_csv(const PairsValidation& result);

} // namespace eyeroof::study
