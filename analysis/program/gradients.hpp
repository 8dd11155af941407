// The operators that training adds to a layer: gradients and the update of its weights.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "model/workload/layer.hpp"

#include <optional>
#include <vector>

namespace eyeroof::analysis {

// Whether training in this type keeps its weights, and updates them, in fp32 (mixed precision):
// below 32 bits.
bool keeps_fp32_weights(model::DataType type);

// Gradients of one run, in the order in which they are computed: an embedding's table is cleared
// first (direction fwd, fn "fill"); then that of the weights (convolutions, products, embeddings)
// or of a batched product's second operand; that of the input where `data` asks for it. Counts are
// the layer's own.
std::vector<model::Layer> gradients_of(const model::Layer& layer, const TrainingOptions& options,
                                       bool data);

// The update of the layer's learned values; nothing where it has none. `alone`: those of
// convolutions, products and embeddings; what else has few learned values shares one update. In
// fp32 where the weights are kept so (keeps_fp32_weights), but in `pure` training.
struct Update {
    model::Layer layer;
    bool alone = false;
};
std::optional<Update> update_of(const model::Layer& layer, const TrainingOptions& options,
                                Regime states);

} // namespace eyeroof::analysis
