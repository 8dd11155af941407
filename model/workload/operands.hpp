// What a run of a layer reads from other layers and what it writes, in whole tensors.
#pragma once

#include "model/workload/layer.hpp"

#include <vector>

namespace eyeroof::model {

// Elements of what a run of the layer reads from other operators, in order, and of what it writes;
// whole tensors, also where windows skip some. Weights, indices of embeddings and tensors that are
// there anyway are not among them. 0 where a product does not fit 63 bits.
struct Operands {
    std::vector<Count> reads;
    Count writes = 0;
};
Operands operands_of(const Layer& layer);

} // namespace eyeroof::model
