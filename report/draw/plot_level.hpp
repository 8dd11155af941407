// The memory levels of a roofline plot by their common names.
#pragma once

#include "base/result.hpp"
#include "report/draw/plot_input.hpp"

#include <string>

namespace eyeroof::report {

// The level that is meant, in the machines' own spelling; "" (the outermost) and "all" stay.
// Error "unknown-level": no machine has a roof for it and no point bytes; the levels are named.
Result<std::string> level_named(const PlotInput& input, const std::string& asked);

} // namespace eyeroof::report
