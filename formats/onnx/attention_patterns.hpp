// Attention written as two products with a softmax between them.
#pragma once

#include "formats/onnx/graph.hpp"
#include "formats/onnx/step.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace eyeroof::formats::onnx {

// Layers of each node of a graph, and the sizes of all tensors.
struct Costed {
    std::vector<std::vector<model::Layer>> layers;
    std::map<std::string, Value> values;
};

struct AttentionPattern {
    std::size_t scores = 0, context = 0; // nodes
    std::vector<std::size_t> between;    // softmax, scale, mask, casts
    model::AttentionShape shape;
};

// Softmax of a product, scaled, masked or cast on the way, times the values.
std::vector<AttentionPattern> find_attention(const OnnxGraph& graph, const Costed& costed);

// Takes the parameters from what is added to the scores as it is stored: masks and positions, whose
// sizes are those of the sequences. What is looked up in a smaller table is learned.
void forget_masks(const OnnxGraph& graph, const std::vector<AttentionPattern>& patterns,
                  Costed& costed);

// One layer in the place of each pattern's.
void fuse_attention(const std::vector<AttentionPattern>& patterns, Costed& costed);

} // namespace eyeroof::formats::onnx
