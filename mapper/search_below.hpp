// Every mapping of a task's space below a value, in place of the best one alone: for callers that
// judge mappings at more machines than the task's.
#pragma once

#include "mapper/search.hpp"

#include <functional>

namespace eyeroof::mapper {

struct Below {
    // Mappings of this value or more are not asked for; it may fall while mappings are found.
    std::function<double()> cutoff;
    // One thread at a time. A mapping may come more than once.
    std::function<void(const SearchResult& mapping)> found;
};

// True: every mapping of the space with a value below the cutoff, as it was last, was found. False:
// the effort of `options` ended, or not all splits or placements can be looked at. Known mappings
// of the task, and a DRAM whose rate follows the mapping, are not looked at.
bool search_below(const Task& task, const SearchOptions& options, const Below& below,
                  const std::stop_token& stop);

} // namespace eyeroof::mapper
