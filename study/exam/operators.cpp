#include "study/exam/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace eyeroof::study {

using model::Layer;
using model::Network;
using model::Op;

namespace {

constexpr std::array<std::string_view, 11> kActivations = {
    "relu", "relu6", "leaky_relu", "clamp",       "sigmoid", "tanh",
    "gelu", "silu",  "hardswish",  "hardsigmoid", "softplus"};

model::Count elements_written(const Layer& layer) {
    const auto work = model::work_of(layer);
    model::Count elements = 0;
    if (work) {
        for (const model::TensorUse& tensor : work->tensors) {
            elements = std::max(elements, tensor.written ? tensor.elements : 0);
        }
    }
    return elements;
}

bool is_activation(const Layer& layer) {
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    return e != nullptr &&
           std::find(kActivations.begin(), kActivations.end(), e->fn) != kActivations.end();
}

bool fuses(const Layer& before, const Layer& layer) {
    const bool folds =
        layer.op == Op::batchnorm && model::multiplies(before.op) && before.op != Op::attention;
    return (folds || is_activation(layer)) && layer.direction == model::Direction::fwd &&
           layer.count == before.count && elements_written(layer) == elements_written(before);
}

std::string operators_text(model::Count number) {
    return fmt::format("{} operator{}", number, number == 1 ? "" : "s");
}

} // namespace

Network with_operators(const Network& network, Operators operators) {
    if (operators == Operators::all) {
        return network;
    }
    Network kept = network;
    kept.layers.clear();
    model::Count gone = 0;
    for (const Layer& layer : network.layers) {
        const bool leaves = operators == Operators::products
                                ? !model::multiplies(layer.op)
                                : !kept.layers.empty() && fuses(kept.layers.back(), layer);
        gone += leaves ? layer.count : 0;
        if (!leaves) {
            kept.layers.push_back(layer);
        }
    }
    if (gone > 0) {
        kept.name += operators == Operators::products
                         ? fmt::format(", products alone ({} left out)", operators_text(gone))
                         : fmt::format(", {} fused", operators_text(gone));
    }
    return kept;
}

} // namespace eyeroof::study
