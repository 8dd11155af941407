// Targets in closed form: a synthetic processor or GPU. Thousands of trials per second,
// reproducible everywhere.
#pragma once

#include "analysis/trials/cpu_task.hpp"
#include "analysis/trials/gpu_task.hpp"

namespace eyeroof::analysis::tune {

struct Noise {
    double deviation = 0.0; // of the logarithm of a cost
    std::uint64_t seed = 1;
};

// A synthetic processor that differs from the features: the closed form with every rate and
// capacity scaled by a random factor of up to 1.5 up or down, times a random interaction of some
// knobs that no feature describes (up to 30 %). Both are drawn from `machine_seed`. For tests of
// search strategies; it models no real machine.
std::unique_ptr<Target> synthetic_target(const Workload& work, const CpuMachine& machine,
                                         const SearchTask& search_task, std::uint64_t machine_seed,
                                         const Noise& noise);

// The same of a GPU: the closed form with its clock and the rates of L2 and memory off.
std::unique_ptr<Target> synthetic_target(const Workload& work, const GpuMachine& machine,
                                         const SearchTask& search_task, std::uint64_t machine_seed,
                                         const Noise& noise);

} // namespace eyeroof::analysis::tune
