#include "study/exam/fused_attention.hpp"

#include <vector>

namespace eyeroof::study {

using model::Count;
using model::Layer;
using model::Op;

namespace {

using Layers = std::vector<Layer>;

const model::GemmShape* product(const Layer& layer) {
    const bool forward = layer.direction == model::Direction::fwd;
    return layer.op == Op::bmm && forward ? std::get_if<model::GemmShape>(&layer.shape) : nullptr;
}

// Elements that an operator over scores writes; 0: none of those.
Count elements(const Layer& layer) {
    if (layer.direction != model::Direction::fwd) {
        return 0;
    }
    if (const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape)) {
        return e->rows * e->cols;
    }
    const auto* r = std::get_if<model::RowsShape>(&layer.shape);
    return r != nullptr && layer.op == Op::softmax ? r->rows * r->cols : 0;
}

bool takes_back(const model::GemmShape& scores, const model::GemmShape& mix) {
    return mix.batch == scores.batch && mix.m == scores.m && mix.k == scores.n && mix.n == scores.k;
}

// The layer behind the attention that begins at `first`; `first` itself where none does.
std::size_t behind_attention(const Layers& layers, std::size_t first) {
    const auto* scores = product(layers[first]);
    bool softmax = false;
    for (std::size_t i = first + 1; scores != nullptr && i < layers.size(); ++i) {
        if (layers[i].count != layers[first].count) {
            break;
        }
        if (const auto* mix = product(layers[i])) {
            return softmax && takes_back(*scores, *mix) ? i + 1 : first;
        }
        if (elements(layers[i]) != scores->batch * scores->m * scores->n) {
            break;
        }
        softmax = softmax || layers[i].op == Op::softmax;
    }
    return first;
}

Layer kernel_of(const Layer& scores) {
    const auto& s = std::get<model::GemmShape>(scores.shape);
    Layer fused = scores;
    fused.op = Op::attention;
    model::AttentionShape shape;
    shape.groups = s.batch;
    shape.m = s.m;
    shape.n = s.n;
    shape.k = s.k;
    fused.shape = shape;
    return fused;
}

} // namespace

model::Network with_fused_attention(const model::Network& network) {
    model::Network result = network;
    result.layers.clear();
    for (std::size_t i = 0; i < network.layers.size();) {
        const std::size_t behind = behind_attention(network.layers, i);
        result.layers.push_back(behind > i ? kernel_of(network.layers[i]) : network.layers[i]);
        i = behind > i ? behind : i + 1;
    }
    return result;
}

} // namespace eyeroof::study
