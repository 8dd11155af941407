// The units in which tools print counters, taken to base units (byte, ns, Hz, …).
#pragma once

#include <optional>
#include <string_view>

namespace eyeroof::profiles {

// Factor to the base unit: "Mbyte" 1e6, "usecond" and "us" 1e3 (ns), "Gbyte/second" 1e9,
// "cycle/nsecond" 1e9 (Hz), "Kinst" 1e3. 1 for units without a prefix, for "%" and for the empty
// unit; nullopt for a unit that is not known, which then must not be guessed.
std::optional<double> base_factor(std::string_view unit);

} // namespace eyeroof::profiles
