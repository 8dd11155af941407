// The change of a machine that caps a GPU's power.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::analysis {

inline constexpr std::string_view kPowerCap = "power-cap";

// The value of "power-cap=300 W", with the key in any spelling that a change takes: upper case,
// blanks, and underscores. nullopt: another change.
std::optional<std::string> power_cap_of(std::string_view change);
bool is_power_cap(std::string_view change);

} // namespace eyeroof::analysis
