// The search task of a nest under a dataflow's rules (nullptr: none) and the user's constraints,
// without any known mapping; see task_of().
#pragma once

#include "mapper/problem_space.hpp"

namespace eyeroof::analysis {

mapper::Task ruled_task(const model::Problem& problem, const model::Accelerator& accelerator,
                        const model::Dataflow* dataflow,
                        const mapper::Constraints& constraints = {});

} // namespace eyeroof::analysis
