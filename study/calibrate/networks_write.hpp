// Measured steps of networks beside predictions, as text, JSON, and CSV.
#pragma once

#include "study/calibrate/networks.hpp"

#include <string>

namespace eyeroof::study {

std::string networks_text(const NetworksValidation& result);
std::string networks_json(const NetworksValidation& result); // eyeroof/networks/1
std::string networks_csv(const NetworksValidation& result);

} // namespace eyeroof::study
