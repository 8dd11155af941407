// The searches in logs of trials: the best so far against trials, and when it was found.
// Made of a log's lines; shown by the window.
// Runs nothing.
#pragma once

#include "analysis/trials/log.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

// One strategy with one seed on one layer of one machine.
struct LogSearch {
    std::string template_name;
    Workload work;
    TrialOrigin origin;               // of its first trial
    std::vector<std::size_t> lines;   // into the log's, in the order of trials
    std::vector<double> costs;        // of each in seconds; kNoCost: failed
    std::optional<std::size_t> best;  // into lines; none: nothing worked
    std::optional<std::size_t> to_95; // trials until 95 % of its own best
    double took_s = 0.0;              // until the last trial's end
    std::size_t failed() const;
    double best_s() const { return best ? costs[*best] : kNoCost; }
};

// In the order in which the log begins them. Lines of one trial number count once, the last of
// them.
std::vector<LogSearch> searches_in(const std::vector<TrialLine>& lines);

// "random, batch 16, seed 2"
std::string search_label(const LogSearch& search);

} // namespace eyeroof::analysis::tune
