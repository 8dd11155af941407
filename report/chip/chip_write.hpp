// Area and power of a chip, as text, JSON, and CSV.
#pragma once

#include "analysis/chip/chip.hpp"

#include <string>

namespace eyeroof::report {

std::string chip_text(const analysis::ChipReport& report);
std::string chip_json(const analysis::ChipReport& report); // eyeroof/chip/1
std::string chip_csv(const analysis::ChipReport& report);

} // namespace eyeroof::report
