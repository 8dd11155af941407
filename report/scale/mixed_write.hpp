// A step over unequal devices, as text and JSON.
#pragma once

#include "analysis/scale/mixed.hpp"

#include <string>

namespace eyeroof::report {

std::string mixed_text(const analysis::MixedAnswer& answer);
std::string mixed_json(const analysis::MixedAnswer& answer); // eyeroof/split/1

} // namespace eyeroof::report
