// A workload on a processor as a search task of a search: the template's space, its features, its
// closed form.
#pragma once

#include "analysis/trials/cpu_chain.hpp"
#include "analysis/trials/search_task.hpp"

namespace eyeroof::analysis::tune {

// Features: knobs are log2 of the values; loops are of each loop its trips, what it touches of each
// tensor, and MACs per byte (log2); steps are the losses of the chain (log2 of bound over bound),
// the limiter, shares of loads and traffic of the compute time, footprints over capacities,
// registers, and the predicted share of the peak. None of the last group grows with the workload's
// size.
SearchTask cpu_task(const Workload& work, const CpuMachine& machine, int threads = 1);

} // namespace eyeroof::analysis::tune
