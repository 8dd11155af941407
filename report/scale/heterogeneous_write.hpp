// A step over unequal devices, as text and JSON.
#pragma once

#include "analysis/scale/heterogeneous.hpp"

#include <string>

namespace eyeroof::report {

std::string heterogeneous_text(const analysis::HeterogeneousAnswer& answer);
std::string heterogeneous_json(const analysis::HeterogeneousAnswer& answer); // eyeroof/split/1

} // namespace eyeroof::report
