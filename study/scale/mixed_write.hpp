// A step over unequal devices, as text and JSON.
#pragma once

#include "study/scale/mixed.hpp"

#include <string>

namespace eyeroof::study {

std::string mixed_text(const MixedAnswer& answer);
std::string mixed_json(const MixedAnswer& answer); // eyeroof/split/1

} // namespace eyeroof::study
