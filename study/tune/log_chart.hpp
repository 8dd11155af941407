// The curve of a search from its log alone: best so far against trials.
// Called by whoever draws logs: chart_svg or the desktop's chart.
// Knows no drawing library.
#pragma once

#include "study/draw/chart.hpp"
#include "study/tune/log.hpp"

namespace eyeroof::study::tune {

// A line for each layer, search and seed of the log, FLOP/s; failed trials count, without a point.
Chart chart_of(const std::vector<TrialLine>& lines);
// Errors: those of load_trials; "no-trials": none of it worked.
model::Result<Chart> chart_of_log(const std::filesystem::path& path);

} // namespace eyeroof::study::tune
