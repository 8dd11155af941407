// Turns the forward layers of a network into those of a training step.
// Called by run() for `--phase training`, before the layers are examined.
// Knows no machine.
#pragma once

#include "model/base/result.hpp"
#include "model/network.hpp"

#include <optional>
#include <string>

namespace eyeroof::study {

struct TrainingOptions {
    std::string optimizer = "sgd_momentum"; // an elementwise function that updates weights

    bool operator==(const TrainingOptions&) const = default;
};

// Whether training in this type keeps its weights, and updates them, in fp32 (mixed precision):
// below 32 bits.
bool keeps_fp32_weights(model::DataType type);

// Forward layers, then the gradients in reverse order, then an update of every weight tensor.
// Products and convolutions with weights have a data gradient and a weight gradient; the first one
// of the network has no data gradient: 3 n - 1 products for n linear layers. Batched products have
// the gradients of both operands; embeddings that of their table, which is cleared first where it
// is told; other operators one gradient. Counts are kept. One update a layer with weights, one for
// all norms together. Errors: "unknown-function" for the optimizer; those of the layers' work.
model::Result<model::Network> training_step(const model::Network& forward,
                                            const TrainingOptions& options);

} // namespace eyeroof::study
