// Layers on equal cores, as text, JSON, and CSV.
#pragma once

#include "analysis/cores/cores.hpp"

#include <string>

namespace eyeroof::report {

std::string cores_text(const analysis::CoresReport& report);
std::string cores_json(const analysis::CoresReport& report); // eyeroof/cores/1
std::string cores_csv(const analysis::CoresReport& report);

} // namespace eyeroof::report
