// Says in numbers what each of the seven steps costs a layer on a GPU, and which one costs most.
// Computes no time: it reads those that the prediction has.
#pragma once

#include "model/gpu/occupancy.hpp"
#include "model/gpu/predict.hpp"

namespace eyeroof::model {

struct StepFacts { // of the library's kernel; of the last one where there are several
    double ctas = 0.0, in_turn = 0.0, depth = 0.0; // CTAs, on one SM in turn, steps of k in one
    double dram_s = 0.0, l2_s = 0.0;               // step 6, all kernels
    double l2_bytes = 0.0;                         // that CTAs read through L2
    double l2_bytes_per_s = 0.0;
    double resident = 0.0; // share of the tensors that stays in L2 between calls
    Occupancy occupancy;
};

// Fills limit, kind and reason of every step of both chains, and the limiter, of a prediction whose
// chains, times, clock and limits are known. limiter_step is the binding step of
// model/eyexam/limits.hpp; `limiter` names it: "arithmetic" where units are busy for more than half
// of their wall, else the limit of that step. Step 7 is named by what its time goes to: "launch",
// a memory where that is the longest of the kernel's terms, "clock under power", or the mechanism
// that keeps the pipe from its peak most: "occupancy", "CTA prologue and epilogue", "operand
// loads", "instruction issue", "split-k sum", "operand cast", "layout passes", "Winograd
// transforms", "softmax exponentials", "token routing" …
void explain(const StepFacts& facts, const Gpu& gpu, const Work& work, const KernelChoice& kernel,
             GpuPrediction& prediction);

} // namespace eyeroof::model
