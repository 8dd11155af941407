// How much memory a network needs on a GPU, for inference or a training step.
// Called by upgrade.
// Knows no machine.
#pragma once

#include "model/network.hpp"
#include "study/exam/training.hpp"

#include <optional>

namespace eyeroof::study {

struct MemoryNeed { // bytes
    double weights = 0.0;
    double gradients = 0.0;
    double optimizer = 0.0;   // states, and fp32 copies of the weights in mixed precision
    double activations = 0.0; // kept at the same time

    double total() const { return weights + gradients + optimizer + activations; }
    bool operator==(const MemoryNeed&) const = default;
};

// Inference: weights, and the largest sum of one layer's tensors other than weights. Training: also
// a gradient a weight, the optimizer's states in fp32 (momentum 1, Adam 2; and an fp32 copy of the
// weights in mixed precision), and every result that a gradient reads again: the outputs of all
// forward layers but of elementwise functions whose gradient needs none. Neither the framework's
// own memory nor a convolution's workspace is counted. Errors: the layers' own.
model::Result<MemoryNeed> memory_need(const model::Network& forward,
                                      const std::optional<TrainingOptions>& training);

} // namespace eyeroof::study
