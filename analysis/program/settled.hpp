// A GPU whose power limiter has settled.
#pragma once

#include "analysis/scenario/question.hpp"

namespace eyeroof::analysis {

// Rows of single kernels are loops of milliseconds: short kernels of them run before the board's
// power limiter has settled (model/gpu/matmul.hpp: clock_share), long ones with pauses between
// shapes. In training and serving GEMMs follow each other for hours. So every kernel has the clock
// of a settled limiter, and no more than the board's power sustains (model/gpu/gpu.hpp:
// sustained_clock_share). Other machines than GPUs stay as they are.
model::Machine settled_machine(model::Machine machine);

// Whether the scenario's clocks are settled: as it says, else in training and below the board's
// power limit.
bool settles(const Scenario& scenario, const model::Machine& machine);
// The question on the machine as it runs: settled where the scenario's clocks are.
Question as_it_runs(Question question);

} // namespace eyeroof::analysis
