// Why constraints leave no mapping, told at the lines that they stand in.
// Called by map_network when a search finds that there is none.
#pragma once

#include "analysis/scenario/question.hpp"
#include "mapper/search.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// `reasons`: what mapper::search said. Errors that name constraints get the place of the first one,
// and a note stands at each other. Where the mapper only knows that all together leave nothing, the
// fewest that do are found by leaving out one at a time, for a few seconds at most.
Diagnostics explain_conflicts(const mapper::Task& task, const Diagnostics& reasons,
                              const ConstraintPlaces& places, const std::stop_token& stop);

} // namespace eyeroof::analysis
