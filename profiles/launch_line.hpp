// One line of a profile file that holds a launch: nearly all of a large profile's lines.
#pragma once

#include "profiles/measurement.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace eyeroof::profiles {

// The launch of a line as the writer writes it, spaces apart. nullopt for any other line, valid or
// not: then the general reader decides, and tells what is wrong. Indices are not checked. Names of
// counters are shared with `like` where that has the same ones.
std::optional<Launch> launch_of_line(std::string_view line, const Counters& like = {});

// Appends the launch as a line, with its end. Figures are as short as they can be and exact.
void append_launch_line(const Launch& launch, std::string& text);

} // namespace eyeroof::profiles
