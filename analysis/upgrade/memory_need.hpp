// Memory of a network on a GPU, for inference or a training step: the peak that `eyeroof memory`
// finds, by holder.
#pragma once

#include "analysis/program/memory.hpp"

namespace eyeroof::analysis {

// Bytes at the peak of a step. Gradients: of the weights. Activations: what operators hand on, the
// inputs and the gradients of activations.
struct MemoryNeed {
    double weights = 0.0;
    double gradients = 0.0;
    double optimizer = 0.0; // states, and fp32 copies of the weights in mixed precision
    double activations = 0.0;
    double workspace = 0.0; // of the convolution that runs at the peak

    double total() const { return weights + gradients + optimizer + activations + workspace; }
    bool operator==(const MemoryNeed&) const = default;
};

MemoryNeed memory_need(const step::Memory& memory);

} // namespace eyeroof::analysis
