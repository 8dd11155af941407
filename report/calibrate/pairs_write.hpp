// Measured speedups beside predictions, as text, JSON, and CSV.
#pragma once

#include "analysis/calibrate/pairs.hpp"

#include <string>

namespace eyeroof::report {

std::string pairs_text(const analysis::PairsValidation& result);
std::string pairs_json(const analysis::PairsValidation& result); // eyeroof/pairs/2
std::string pairs_csv(const analysis::PairsValidation& result);

} // namespace eyeroof::report
