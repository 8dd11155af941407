// Quantities as people type them on a command line: units in any case.
#pragma once

#include "base/result.hpp"

#include <string_view>

namespace eyeroof {

// As parse_quantity, and where the unit as written is none, the one that differs in case alone:
// "250 mhz". Errors: those of parse_quantity; "ambiguous-unit" where two differ in case alone
// ("gb/s": GB/s or Gb/s), with both as the hint.
Result<double> parse_quantity_any_case(std::string_view text, std::string_view unit,
                                       std::string_view what);

} // namespace eyeroof
