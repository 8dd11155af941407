// The best so far of logged searches, as a chart.
#pragma once

#include "study/draw/chart.hpp"
#include "study/tune/log_searches.hpp"

namespace eyeroof::study::tune {

// FLOP/s of the best so far against trials, a line for each search that found something; the
// layer's name stands before the search's where there are several.
Chart best_so_far(const std::vector<LogSearch>& searches);

} // namespace eyeroof::study::tune
