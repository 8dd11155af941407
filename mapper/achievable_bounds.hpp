// The machine's chain as the search finds it: the most MACs a cycle over all mappings of a task
// with the constraints of each of Eyexam's steps added one after the other. Called to
// to know what the bounds of model/eyexam leave open.
#pragma once

#include "mapper/search.hpp"

namespace eyeroof::mapper {

struct AchievableBounds {
    // Steps 1 to 6, MAC/cycle. Steps 1 to 3 are bounds that the search prunes with; 4 to 6 are what
    // the fastest mapping reaches: with stores and networks without limits, with the capacities of
    // the stores, with their bandwidths.
    std::array<double, 6> macs_per_cycle{};
    bool proved = false; // steps 4 to 6 are exact, not only what was found in time

    bool operator==(const AchievableBounds&) const = default;
};

// The task's objective plays no part; a time limit holds for each of the three searches. Errors:
// those of search().
Result<AchievableBounds> achievable_bounds(const Task& task, const SearchOptions& options = {},
                                           std::stop_token stop = {},
                                           const ProgressCallback& progress = {});

} // namespace eyeroof::mapper
