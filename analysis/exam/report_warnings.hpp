// Warnings that must accompany the figures of a report: insufficient memory, searches without a
// proof, and operators without a cost. The command line and the explorer show them.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/diagnostic.hpp"

#include <vector>

namespace eyeroof::analysis {

struct OpenSearches {                // that have no proof
    std::vector<std::size_t> layers; // rows of the report
    double gap = 0.0;                // the largest: how far above the lower bound a result may be
    bool effort = false;             // more nodes or time narrow a gap
    bool stream = false;             // a bound takes the DRAM as a stream
};
OpenSearches open_searches(const Report& report);

// "the searches of 3 of 12 layers, CONV2 first, stopped before the proof: optimality gap at most
// 15.0 %"; there is one at least.
std::string open_searches_text(const Report& report, const OpenSearches& open);

// What closes the gaps: more nodes, or a bound that holds for the rate of the tiles.
std::string open_searches_hint(const OpenSearches& open);

// "alexnet needs more memory than A100 has: times are of a run that would fit"; empty where it
// fits.
std::string no_fit_text(const Report& report);
// The same as a warning, which every command that prints times of a step gives; none where it fits.
Diagnostics fit_warning(const Report& report);

// "the kernels of the layers add up to 1.12 ms of the step's 7.93 ms: the rest is waiting for the
// CPU's launches"; empty where the layers' times add up to the total, as on accelerators.
std::string step_sum_text(const Report& report);

// "3.1 % of the network's operators have no cost and are not in these figures"; empty where all
// have one.
std::string uncosted_share_text(const Report& report);

} // namespace eyeroof::analysis
