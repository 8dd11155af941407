// Times of a training framework's kernels where measured ones, or its fused ones, differ from those
// that the exam assumes.
#pragma once

#include "analysis/exam/report.hpp"
#include "model/gpu/library_cells.hpp"

namespace eyeroof::analysis {

// What a training framework runs in place of a layer's library kernel.
//   products   of 8-bit and 4-bit operands are cuBLASLt's, as Transformer Engine's: by the measured
//              products of TensorRT-LLM, which calls the same library. Each of three kernels of a
//              layer: Y = X W, dX = dY W', dW = dY' X. The first two quantize an input; the third
//              reads what they left. MXFP8 at the rate of fp8. Experts one after the other, as
//              Transformer Engine's grouped linear layers.
//   pointwise  kernels that are fused (gates, norms, rotations) take their bytes at the rate of the
//              optimizer's update. Sources: Megatron-Core's bias_swiglu_fusion and
//              apply_rope_fusion, Transformer Engine's norms.
struct TrainingKernels {
    const model::Gpu* gpu = nullptr;
    const model::MachineKernels* measured = nullptr; // nullptr: none
    bool fused = false;                              // pointwise kernels are
    double byte_s = 0.0;                             // of memory-bound work

    // Of one run. Tables time a kernel alone: in a step its clock is that of a GPU that has been
    // at work, by the exam's `layer`, which is settled, over its `alone`, which is not.
    double time_s(const LayerReport& layer, const LayerReport& alone) const;
};

} // namespace eyeroof::analysis
