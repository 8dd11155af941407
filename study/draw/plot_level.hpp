// The memory levels of a roofline plot by the names that people give them.
// Used by the command `roofline`. Knows nothing of pixels.
#pragma once

#include "model/base/result.hpp"
#include "study/draw/plot_input.hpp"

#include <string>

namespace eyeroof::study {

// The level that is meant, in the machines' own spelling; "" (the outermost) and "all" stay.
// Error "unknown-level": no machine has a roof for it and no point bytes; the levels are named.
model::Result<std::string> level_named(const PlotInput& input, const std::string& asked);

} // namespace eyeroof::study
