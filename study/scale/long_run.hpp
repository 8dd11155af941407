// A machine as a run of hours finds it.
// Called by everything here that examines kernels.
// Knows no network and no fabric.
#pragma once

#include "model/machine/machine.hpp"

namespace eyeroof::study {

// Rows of single kernels are loops of milliseconds: short kernels of them run before the board's
// power limiter has settled (model/gpu/matmul.hpp: clock_share), long ones with pauses between
// shapes. In training and serving products follow each other for hours. So every kernel has the
// clock of a settled limiter, and no more than the board's power sustains (model/gpu/gpu.hpp:
// sustained_clock_share). Other machines than GPUs stay as they are.
model::Machine in_a_long_run(model::Machine machine);

} // namespace eyeroof::study
