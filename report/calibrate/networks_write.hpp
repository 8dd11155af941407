// Measured steps of networks beside predictions, as text, JSON, and CSV.
#pragma once

#include "analysis/calibrate/networks.hpp"

#include <string>

namespace eyeroof::report {

std::string networks_text(const analysis::NetworksValidation& result);
std::string networks_json(const analysis::NetworksValidation& result); // eyeroof/networks/1
std::string networks_csv(const analysis::NetworksValidation& result);

} // namespace eyeroof::report
