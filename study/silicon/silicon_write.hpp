// Area and power of a chip, as text, JSON, and CSV.
#pragma once

#include "study/silicon/silicon.hpp"

#include <string>

namespace eyeroof::study {

std::string silicon_text(const SiliconReport& report);
std::string silicon_json(const SiliconReport& report); // eyeroof/chip/1
std::string silicon_csv(const SiliconReport& report);

} // namespace eyeroof::study
