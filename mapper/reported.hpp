// The time of a mapping as it is reported, by the model's own functions.
// Called wherever a mapping's value is made; the searches bound it from below.
#pragma once

#include "mapper/problem_space.hpp"
#include "model/cost/latency.hpp"

namespace eyeroof::mapper {

// Does step 7 count, with its fill, drain, and stalls?
bool counts_ramps(const Task& task);
// … and may it decide between mappings?
bool ramps_matter(const Task& task);

// The time; what leaks in it becomes part of the cost, which comes from cost_of().
model::Latency timed(const Task& task, const model::Mapping& mapping, model::MappingCost& cost);

} // namespace eyeroof::mapper
