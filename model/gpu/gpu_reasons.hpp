// Says in numbers what each of the seven steps costs a layer on a GPU, and which one costs most.
// Called by the chain of a prediction alone.
// Computes no time: it reads those that the prediction has.
#pragma once

#include "model/gpu/predict.hpp"

namespace eyeroof::model {

struct StepFacts { // of the library's kernel; of the last one where there are several
    double ctas = 0.0, in_turn = 0.0, depth = 0.0; // CTAs, on one SM in turn, steps of k in one
    double dram_s = 0.0, l2_s = 0.0;               // step 6, all kernels
    double l2_bytes = 0.0;                         // that CTAs read through L2
    double l2_bytes_per_s = 0.0;
    double resident = 0.0; // share of the tensors that stays in L2 between calls
};

// Fills limit and reason of every step of both chains, limiter and limiter_step, of a prediction
// whose chains, times and clock are known. The limiter:
//   launch                where it takes more than half of the time;
//   DRAM or L2 bandwidth  where that term is the longest of the kernel's, or DRAM where it is the
//                         roof of step 6 and takes half of the kernel;
//   arithmetic            where the units are busy for more than half of the time (step 3);
//   otherwise the step that takes the largest factor: workload, k in order, tiles and waves,
//   alignment, clock under power, ramp and latency.
// limiter_step is the step with the larger loss where two share a cause (6 and 7: bandwidth).
void explain(const StepFacts& facts, const Gpu& gpu, const Work& work, const KernelChoice& kernel,
             GpuPrediction& prediction);

} // namespace eyeroof::model
