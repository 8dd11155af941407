#include "analysis/program/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

using model::Layer;
using model::Network;
using model::Op;

namespace {

constexpr std::array<std::string_view, 11> kActivations = {
    "relu", "relu6", "leaky_relu", "clamp",       "sigmoid", "tanh",
    "gelu", "silu",  "hardswish",  "hardsigmoid", "softplus"};

Count elements_written(const Layer& layer) {
    const auto work = model::work_of(layer);
    Count elements = 0;
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

std::string operators_text(Count number) {
    return fmt::format("{} operator{}", number, number == 1 ? "" : "s");
}

} // namespace

namespace {

// Steps of layers that are gone hand on what they read first; indices follow the kept layers.
model::GraphEdges without(const model::GraphEdges& edges, const std::vector<std::size_t>& kept_at) {
    constexpr auto kGone = static_cast<std::size_t>(-1);
    model::GraphEdges result = edges;
    for (model::GraphStep& step : result.steps) {
        if (step.kind == model::GraphStepKind::run && kept_at[step.layer] == kGone) {
            step.kind = model::GraphStepKind::view;
            step.reads.resize(1);
            step.weights_of.reset();
            continue;
        }
        step.layer = step.kind == model::GraphStepKind::run ? kept_at[step.layer] : step.layer;
        if (step.weights_of) {
            const std::size_t of = kept_at[*step.weights_of];
            step.weights_of = of == kGone ? std::nullopt : std::optional(of);
        }
    }
    return result;
}

} // namespace

model::NetworkGraph with_operators(model::NetworkGraph from, Operators operators) {
    constexpr auto kGone = static_cast<std::size_t>(-1);
    if (operators == Operators::all) {
        return from;
    }
    Network kept = from.network;
    kept.layers.clear();
    std::vector<std::size_t> kept_at;
    Count gone = 0;
    for (const Layer& layer : from.network.layers) {
        const bool leaves = operators == Operators::products
                                ? !model::multiplies(layer.op)
                                : !kept.layers.empty() && fuses(kept.layers.back(), layer);
        gone += leaves ? layer.count : 0;
        kept_at.push_back(leaves ? kGone : kept.layers.size());
        if (!leaves) {
            kept.layers.push_back(layer);
        }
    }
    if (gone == 0) {
        return from;
    }
    const bool products = operators == Operators::products;
    kept.name += products ? fmt::format(", products alone ({} left out)", operators_text(gone))
                          : fmt::format(", {} fused", operators_text(gone));
    std::optional<model::GraphEdges> edges;
    if (from.edges && !products) {
        edges = without(*from.edges, kept_at);
    }
    return {std::move(kept), std::move(edges)};
}

} // namespace eyeroof::analysis
