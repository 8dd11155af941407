// The C++ text of candidates, and of the program that runs them.
// Called by the processor target and by tests.
#pragma once

#include "analysis/tune/cpu_plan.hpp"

#include <string>

namespace eyeroof::analysis::tune {

// A source with `eyeroof_prepare` and `eyeroof_kernel`: knobs are constants, sizes are arguments,
// so that one compiled kernel can be checked on odd sizes. Needs no header. OpenMP where the plan
// has more than one thread.
std::string cpu_source(const CpuPlan& plan);

// A program `harness reference FILE SHAPE…` and `harness run KERNEL FILE CPU SECONDS SHAPE…`.
// reference writes the workload's result, computed simply; run loads a kernel, checks it on an odd
// size and on the workload, times it, and prints "times t1 t2 …" (seconds) or "wrong …". Inputs are
// multiples of 1/8 within ±1, so every sum is exact in fp32 and results must be equal, in whatever
// order they were added. A workload's weights are packed before the clock starts for convolutions,
// where they are constant; all other copies count.
std::string harness_source();

// The arguments SHAPE… of a workload.
std::vector<std::string> harness_shape(const Workload& work);

} // namespace eyeroof::analysis::tune
