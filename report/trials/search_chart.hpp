// The best so far of logged searches, as a chart.
#pragma once

#include "analysis/trials/log_searches.hpp"
#include "report/draw/chart.hpp"

namespace eyeroof::report {

// A stair for each new best; empty where every cost is kNoCost. flops: of one run.
ChartLine best_line(std::string label, double flops, const std::vector<double>& costs);
Chart trials_chart(std::string title);

// FLOP/s of the best so far against trials, a line for each search that found something; the
// layer's name stands before the search's where there are several.
Chart best_so_far(const std::vector<analysis::tune::LogSearch>& searches);

} // namespace eyeroof::report
