// Explains why constraints leave no mapping, with diagnostics at the lines of the constraints.
// For searches that find no mapping.
#pragma once

#include "analysis/scenario/question.hpp"
#include "mapper/search.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// `reasons`: diagnostics of mapper::search. An error that names constraints gets the place of the
// first one, and a note at each other one. If the mapper reports only that all together conflict,
// a minimal conflicting set is found by dropping one at a time, for a few seconds at most.
Diagnostics explain_conflicts(const mapper::Task& task, const Diagnostics& reasons,
                              const ConstraintPlaces& places, const std::stop_token& stop);

} // namespace eyeroof::analysis
