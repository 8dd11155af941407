// The seven steps of one candidate on a GPU, in closed form: what each constraint leaves of its
// throughput, and what is moved where.
// Read by the features, by the analytic strategy and by the synthetic target.
#pragma once

#include "analysis/trials/gpu_plan.hpp"

#include <array>

namespace eyeroof::analysis::tune {

// clang-format off
// Bounds in MAC/cycle of the whole GPU, none above the one before:
//   B1 workload      all MACs at once
//   B2 dataflow      rows x cols x split_k: the rest of a sum runs one after the other
//   B3 units         SMs x lanes
//   B4 dimensions    B3 x rows, cols and slices that tiles waste x CTAs / (SMs ceil(CTAs / SMs))
//   B5 storage       B4 x min(1, sums in flight / (latency lanes)): CTAs that registers, shared memory, threads and
//                    slots let an SM hold, with at most 8 of a thread's sums
//   B6 bandwidth     MACs / max(compute at B5, shared memory, L2, memory)
//   B7 instants      MACs / (those cycles + issue slots lost + latency that stages leave open + beginnings and ends
//                    of CTAs + launch)
// Shared memory: wavefronts of 128 B, one a cycle: a row's value of each lane (bank conflicts counted exactly), a
// column's as vectors of up to 4 where a thread's lie side by side. L2: the input once for each column of tiles, the
// weights once for each row, results once or twice for each part. Memory: every operand once. Latencies: 4 cycles of a
// multiply-add, 600 of a load, 4 instructions issued a cycle. Source: own, after docs/mapper.md.
// clang-format on
struct GpuChain {
    std::array<double, 7> bound{};
    std::size_t limiter = 0; // step (from 0) that costs the largest share
    double ctas = 1.0;       // of the grid
    double resident = 1.0;   // of them on an SM at once, at most
    double compute_cycles = 0.0, shared_cycles = 0.0, l2_cycles = 0.0, dram_cycles = 0.0;
    double l2_bytes = 0.0, dram_bytes = 0.0;
    double conflicts = 1.0; // wavefronts of one load of the input from shared memory
    double issue_cycles = 0.0, latency_cycles = 0.0, end_cycles = 0.0;
    double seconds = 0.0;

    double loss(std::size_t step) const { // share that a step costs, 0 for the first
        return step == 0 ? 0.0 : 1.0 - bound[step] / bound[step - 1];
    }
};

GpuChain gpu_chain(const Workload& work, const GpuPlan& plan, const GpuMachine& machine);

} // namespace eyeroof::analysis::tune
