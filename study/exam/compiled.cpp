#include "study/exam/compiled.hpp"

#include "model/layer.hpp"
#include "study/exam/network_step.hpp"

#include <fmt/format.h>

namespace eyeroof::study {

using model::Layer;

namespace {

// Elements of what an operator that can be fused writes; 0: none of those.
model::Count pointwise_elements(const Layer& layer) {
    if (issued_as(layer) == model::Issued::update) {
        return 0;
    }
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    const bool copies = e != nullptr && (e->fn == "h2d" || e->fn == "d2h" || e->fn == "peer");
    return e == nullptr || copies ? 0 : e->rows * e->cols;
}

model::Count row_elements(const Layer& layer) {
    const auto* r = std::get_if<model::RowsShape>(&layer.shape);
    const bool reduces = layer.op == model::Op::layernorm || layer.op == model::Op::softmax ||
                         layer.op == model::Op::batchnorm;
    return r != nullptr && reduces ? r->rows * r->cols : 0;
}

bool fuse(const Layer& a, const Layer& b) {
    const model::Count first = pointwise_elements(a) + row_elements(a);
    const model::Count second = pointwise_elements(b) + row_elements(b);
    const bool both_reduce = row_elements(a) > 0 && row_elements(b) > 0;
    return first > 0 && first == second && !both_reduce && a.count == b.count &&
           (a.direction == model::Direction::fwd) == (b.direction == model::Direction::fwd);
}

double bytes_of(const Layer& layer) {
    const auto work = model::work_of(layer);
    return work ? static_cast<double>(work->bytes()) : 0.0;
}

// A reduction stands for its chain; else what moves the most.
const Layer& heavier(const Layer& a, const Layer& b) {
    if ((row_elements(a) > 0) != (row_elements(b) > 0)) {
        return row_elements(a) > 0 ? a : b;
    }
    return bytes_of(b) > bytes_of(a) ? b : a;
}

} // namespace

model::Network compiled(const model::Network& network) {
    model::Network result = network;
    result.layers.clear();
    model::Count fused = 0;
    for (const Layer& layer : network.layers) {
        if (!result.layers.empty() && fuse(result.layers.back(), layer)) {
            fused += layer.count;
            result.layers.back() = Layer(heavier(result.layers.back(), layer));
        } else {
            result.layers.push_back(layer);
        }
    }
    if (fused > 0) {
        result.name += fmt::format(", {} pointwise operators compiled into others", fused);
    }
    return result;
}

} // namespace eyeroof::study
