// Targets in closed form: a synthetic processor, and an accelerator's mappings. Thousands of trials
// per second, reproducible everywhere; the mapper proves the optimum for an accelerator.
#pragma once

#include "analysis/trials/cpu_task.hpp"
#include "analysis/trials/gpu_task.hpp"
#include "mapper/search.hpp"
#include "model/machine/machine.hpp"

#include <stop_token>

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

// A layer's nest on an accelerator: knobs are a way to split each group of dimensions, and the
// order of loops; the cost is that of the mapper's closed form.
struct MappingTask {
    SearchTask search_task;
    std::unique_ptr<Target> target;
    double optimum = kNoCost; // what the mapper has found, in the search task's unit
    bool proved = false;
    std::string objective;
};

// Mappings that keep every operand wherever the machine allows it, with sizes that divide; the
// mapper's optimum is over all choices of what is kept. Errors: those of the mapper; "unsupported"
// for a layer of several nests.
Result<MappingTask> mapping_task(const model::Layer& layer, const model::Accelerator& machine,
                                 const Noise& noise, std::uint64_t search_nodes,
                                 std::stop_token stop);

} // namespace eyeroof::analysis::tune
