// Area and power of a chip, as text, JSON, and CSV.
#pragma once

#include "analysis/silicon/silicon.hpp"

#include <string>

namespace eyeroof::report {

std::string silicon_text(const analysis::SiliconReport& report);
std::string silicon_json(const analysis::SiliconReport& report); // eyeroof/chip/1
std::string silicon_csv(const analysis::SiliconReport& report);

} // namespace eyeroof::report
