// A workload on a GPU as a search task of a search: the template's space, its features, its closed
// form.
#pragma once

#include "analysis/trials/gpu_chain.hpp"
#include "analysis/trials/search_task.hpp"

namespace eyeroof::analysis::tune {

// Features: knobs are log2 of the values; loops are of the thread's, the warp's, the CTA's and the
// grid's tile its bytes of each operand, its MACs per byte, its trips (log2); steps are the losses
// of the chain (log2 of bound over bound), the limiter, shares of each traffic of the compute time,
// residency, conflicts, registers and shared memory over their limits.
SearchTask gpu_task(const Workload& work, const GpuMachine& machine);

} // namespace eyeroof::analysis::tune
