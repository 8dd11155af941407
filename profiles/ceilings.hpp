// Measured ceilings as a machine overlay: a small YAML that is laid over a data sheet and never
// replaces it. Written by `eyeroof measure`, read by formats/ceilings; docs/measuring.md.
#pragma once

#include "profiles/measurement.hpp"

#include <string>

namespace eyeroof::profiles {

// The run's facts, then each ceiling with its unit, median, spread and method.
std::string ceilings_yaml(const Profile& profile);

} // namespace eyeroof::profiles
