// Better tiles for a DRAM whose rate depends on them: from a mapping that was found at the rate of
// a stream, step by step to its best neighbor at the rates of its own tiles. Proves nothing.
#pragma once

#include "mapper/effort.hpp"
#include "mapper/search.hpp"

#include <optional>

namespace eyeroof::mapper {

// A mapping with its value; nothing where it breaks a rule of the task.
std::optional<SearchResult> valued(const Task& task, const model::Mapping& mapping);

// Never worse than `start`, and the same each time that the effort lasts. A neighbor has one loop
// elsewhere in the order of its level, one prime factor of a loop in another level, or two such
// factors of two dimensions swapped between two levels. Adds to `nodes` the mappings looked at.
SearchResult climbed(const Task& task, SearchResult start, const Effort& effort,
                     std::uint64_t& nodes);

} // namespace eyeroof::mapper
