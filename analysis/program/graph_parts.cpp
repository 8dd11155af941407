// Names of a graph's parts, and the tools that its builders share.
#include "analysis/program/graph_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace eyeroof::analysis::step {

using model::Layer;
using model::Op;

std::string_view role_text(Role role) {
    switch (role) {
    case Role::input:
        return "inputs";
    case Role::state:
        return "state";
    case Role::weight:
        return "weights";
    case Role::optimizer:
        return "optimizer";
    case Role::activation:
        return "activations";
    case Role::gradient:
        return "gradients of activations";
    case Role::weight_gradient:
        return "gradients of weights";
    }
    return "";
}

OperatorId Graph::append(Operator op, std::span<const TensorId> reads,
                         std::span<const TensorId> writes) {
    op.first_read = static_cast<std::uint32_t>(operands.size());
    op.reads = static_cast<std::uint32_t>(reads.size());
    operands.insert(operands.end(), reads.begin(), reads.end());
    op.first_write = static_cast<std::uint32_t>(operands.size());
    op.writes = static_cast<std::uint32_t>(writes.size());
    operands.insert(operands.end(), writes.begin(), writes.end());
    operators.push_back(op);
    return static_cast<OperatorId>(operators.size() - 1);
}

std::string Graph::name_of(const Operator& op) const {
    const Layer& layer = layers[op.layer];
    return layer.count > 1 ? fmt::format("{}#{}", layer.name, op.number + 1) : layer.name;
}

std::string Graph::name_of(const Tensor& tensor) const {
    if (tensor.layer == kNone) {
        return std::string(role_text(tensor.role));
    }
    const Layer& layer = layers[tensor.layer];
    const std::string own =
        layer.count > 1 ? fmt::format("{}#{}", layer.name, tensor.number + 1) : layer.name;
    switch (tensor.role) {
    case Role::activation:
        return own;
    case Role::gradient:
        return "gradient of " + own;
    default:
        return fmt::format("{} of {}", role_text(tensor.role), own);
    }
}

std::string run_words(const std::vector<Layer>& layers, const std::string& optimizer) {
    std::set<std::string_view> types;
    for (const Layer& layer : layers) {
        types.insert(model::data_type_name(layer.types.output));
    }
    return fmt::format("{}, {}",
                       optimizer.empty() ? "inference" : "a training step with " + optimizer,
                       fmt::join(types, " and "));
}

Count bytes_of(Count elements, model::DataType type) {
    return model::stored_bytes(type, elements).value_or(-1);
}

Count elements_in(Count bytes, model::DataType type) {
    return std::llround(static_cast<double>(bytes) / model::bytes_per_element(type));
}

Count kept_beside(const Layer& layer) {
    constexpr Count kWord = 4; // fp32 statistics, 32-bit positions
    const auto bytes = [](auto... factors) { return checked_product({factors...}).value_or(-1); };
    if (layer.op == Op::layernorm || layer.op == Op::batchnorm) {
        return bytes(2 * kWord, std::get<model::RowsShape>(layer.shape).rows);
    }
    if (const auto* a = std::get_if<model::AttentionShape>(&layer.shape)) {
        return bytes(kWord, a->batch, a->groups, a->m);
    }
    if (layer.op == Op::maxpool) {
        return bytes(kWord, operands_of(layer).writes);
    }
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    return e != nullptr && e->fn == "dropout" ? bytes(e->rows, e->cols) : 0;
}

std::uint32_t Builder::layer(const Layer& layer) {
    auto& known = by_name_[layer.name];
    for (const std::uint32_t i : known) {
        if (graph_.layers[i] == layer) {
            return i;
        }
    }
    graph_.layers.push_back(layer);
    numbers_.push_back(0);
    known.push_back(static_cast<std::uint32_t>(graph_.layers.size() - 1));
    return known.back();
}

std::uint32_t Builder::next_number(std::uint32_t layer) {
    return numbers_[layer]++;
}

TensorId Builder::tensor(Role role, Count bytes, std::uint32_t layer, std::uint32_t number) {
    const auto sum = checked_add(all_bytes_, bytes);
    fits_ = fits_ && bytes >= 0 && sum && *sum <= kMostBytes;
    all_bytes_ = sum.value_or(all_bytes_);
    graph_.tensors.push_back({role, bytes, kNone, layer, number, false});
    return static_cast<TensorId>(graph_.tensors.size() - 1);
}

OperatorId Builder::add(std::uint32_t layer, std::uint32_t number, model::Issued kind,
                        OperatorId forward, const std::vector<TensorId>& reads,
                        const std::vector<TensorId>& writes) {
    const OperatorId id = graph_.append({layer, number, kind, forward, 0, 0, 0, 0}, reads, writes);
    for (const TensorId t : writes) {
        if (graph_.tensors[t].producer == kNone) {
            graph_.tensors[t].producer = id;
        }
    }
    return id;
}

} // namespace eyeroof::analysis::step
