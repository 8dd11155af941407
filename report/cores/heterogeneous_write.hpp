// Layers on unequal cores, as text, JSON, and CSV.
#pragma once

#include "analysis/cores/heterogeneous.hpp"

#include <string>

namespace eyeroof::report {

std::string heterogeneous_text(const analysis::HeterogeneousReport& report);
std::string heterogeneous_json(const analysis::HeterogeneousReport& report); // eyeroof/placement/1
std::string heterogeneous_csv(const analysis::HeterogeneousReport& report);

} // namespace eyeroof::report
