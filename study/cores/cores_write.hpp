// Layers on equal cores, as text, JSON, and CSV.
#pragma once

#include "study/cores/cores.hpp"

#include <string>

namespace eyeroof::study {

std::string cores_text(const CoresReport& report);
std::string cores_json(const CoresReport& report); // eyeroof/cores/1
std::string cores_csv(const CoresReport& report);

} // namespace eyeroof::study
