// One search: proposes, measures, learns, until the trials are spent.
#pragma once

#include "analysis/tune/strategy.hpp"
#include "base/progress.hpp"

#include <functional>
#include <stop_token>

namespace eyeroof::analysis::tune {

struct SearchPlan {
    StrategyOptions strategy;
    std::size_t trials = 128; // that fail count, too
    double limit_s = 0.0;     // 0: none
    bool timed =
        true; // trials say when they ended; computed ones do not, so that equal runs are equal
};

// Called with each trial as soon as it is known; false: it could not be kept, and the search
// ends.
using Keep = std::function<bool(const Trial&)>;
// The outcome of a point that was measured before, by an interrupted run of the same search.
using Recall = std::function<std::optional<Outcome>(const Point&, std::size_t trial)>;

struct SearchEnd {
    std::vector<Trial> trials;
    bool stopped = false;   // asked to, or out of time
    bool exhausted = false; // no points were left
    bool unkept = false;    // Keep refused
    std::size_t recalled = 0;
};

SearchEnd run_search(const SearchTask& search_task, Target& target, const SearchPlan& plan,
                     const Keep& keep = {}, const Recall& recall = {}, std::stop_token stop = {},
                     const ProgressCallback& progress = {});

} // namespace eyeroof::analysis::tune
