// The C++ text of candidates, and of the program that runs them.
#pragma once

#include "analysis/trials/cpu_plan.hpp"

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

// What it shares with other programs that run kernels: includes, Args, Shape, confine().
std::string harness_shared();

// A program `network FILE CPU THREADS SECONDS median|least` that runs a whole network, turn about,
// with compiled kernels and with oneDNN 2 or 3, whose header and library it needs. Both compute
// channels-last, in fp32, with equal weights that are packed before the clock starts. oneDNN fuses
// bias, addition, and ReLU; a kernel is followed by one pass for them. It prints "library NAME",
// "difference" (largest over the largest value of the result), "step NAME KERNELS LIBRARY"
// (medians, s, in the order of FILE), "network KERNELS LIBRARY", and "wrong …" or "failed …" where
// that is not possible.
std::string network_source();

// The arguments SHAPE… of a workload.
std::vector<std::string> harness_shape(const Workload& work);

} // namespace eyeroof::analysis::tune
