#include "formats/onnx/product_patterns.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

using Readers = std::map<std::string_view, std::vector<std::size_t>>;

Readers readers_of(const OnnxGraph& graph) {
    Readers readers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string_view name : graph.nodes[i].reads()) {
            readers[name].push_back(i);
        }
    }
    return readers;
}

bool is_given(const OnnxGraph& graph, const std::string& name) {
    return std::find(graph.outputs.begin(), graph.outputs.end(), name) != graph.outputs.end();
}

const Dims* sizes_of(const Costed& costed, const std::string& name) {
    const auto value = costed.values.find(name);
    return value != costed.values.end() && value->second.dims ? &*value->second.dims : nullptr;
}

// The one sum that reads the product's result, and the vector that it adds.
struct Bias {
    std::size_t sum = 0;
    std::string vector;
};

std::optional<Bias> bias_of(const OnnxGraph& graph, const Readers& readers, const Costed& costed,
                            std::size_t product) {
    const std::string& made = graph.nodes[product].outputs.front();
    const auto found = readers.find(made);
    if (found == readers.end() || found->second.size() != 1 || is_given(graph, made)) {
        return std::nullopt;
    }
    const std::size_t sum = found->second.front();
    const OnnxNode& node = graph.nodes[sum];
    if (node.op != "Add" || !node.domain.empty() || node.inputs.size() != 2 ||
        costed.layers[sum].size() != 1) {
        return std::nullopt;
    }
    const std::string& vector = node.inputs[node.inputs[0] == made ? 1 : 0];
    const auto value = costed.values.find(vector);
    const auto& shape = std::get<model::GemmShape>(costed.layers[product].front().shape);
    const bool fits = value != costed.values.end() && value->second.origin != Origin::data &&
                      value->second.dims == Dims{shape.n};
    return fits ? std::optional(Bias{sum, vector}) : std::nullopt;
}

// Distances of a transposed tensor's elements along its axes; nothing where they are not known.
std::optional<Dims> distances_of(const OnnxNode& node, const Dims& before) {
    Dims own(before.size(), 1);
    for (std::size_t axis = before.size(); axis-- > 1;) {
        const auto next = checked_mul(own[axis], before[axis]);
        if (!next) {
            return std::nullopt;
        }
        own[axis - 1] = *next;
    }
    const auto order = node.attributes.find("perm");
    if (order == node.attributes.end()) {
        return Dims(own.rbegin(), own.rend());
    }
    Dims turned;
    for (const std::int64_t axis : order->second.ints) {
        if (axis < 0 || axis >= static_cast<std::int64_t>(own.size())) {
            return std::nullopt;
        }
        turned.push_back(own[static_cast<std::size_t>(axis)]);
    }
    return turned.size() == own.size() ? std::optional(turned) : std::nullopt;
}

bool reads_in_place(const Dims& sizes, const Dims& distances) {
    const std::size_t rank = sizes.size();
    if (rank < 2) {
        return false;
    }
    const auto dense = [&](std::size_t axis) { return sizes[axis] == 1 || distances[axis] == 1; };
    if (!dense(rank - 1) && !dense(rank - 2)) {
        return false;
    }
    std::optional<std::int64_t> next; // the distance that the axis before must have
    for (std::size_t axis = rank - 2; axis-- > 0;) {
        if (sizes[axis] == 1) {
            continue;
        }
        if (next && distances[axis] != *next) {
            return false;
        }
        next = checked_mul(distances[axis], sizes[axis]);
        if (!next) {
            return false;
        }
    }
    return true;
}

// One piece along the first axis that is longer than 1, of every element: it lies densely already.
bool is_dense_piece(const Costed& costed, const OnnxNode& node, const Dims& before) {
    const Dims* after = sizes_of(costed, node.outputs.front());
    if (after == nullptr || after->size() != before.size()) {
        return false;
    }
    const auto steps =
        node.inputs.size() > 4 ? costed.values.find(node.inputs[4]) : costed.values.end();
    const bool every = node.inputs.size() <= 4 || node.inputs[4].empty() ||
                       (steps != costed.values.end() && steps->second.values &&
                        std::all_of(steps->second.values->begin(), steps->second.values->end(),
                                    [](double step) { return step == 1.0; }));
    const auto first =
        std::find_if(before.begin(), before.end(), [](auto size) { return size != 1; });
    const auto at = first - before.begin();
    return every && first != before.end() &&
           std::equal(first + 1, before.end(), after->begin() + at + 1);
}

bool moves_nothing(const OnnxGraph& graph, const Readers& readers, const Costed& costed,
                   const OnnxNode& node) {
    const std::string& made = node.outputs.front();
    const auto found = readers.find(made);
    const Dims* before = sizes_of(costed, node.inputs.front());
    const Dims* after = sizes_of(costed, made);
    if (found == readers.end() || is_given(graph, made) || before == nullptr || after == nullptr) {
        return false;
    }
    const bool piece = node.op != "Transpose";
    if (piece && is_dense_piece(costed, node, *before)) {
        return true;
    }
    const auto distances = piece ? std::nullopt : distances_of(node, *before);
    const bool in_place =
        distances && distances->size() == after->size() && reads_in_place(*after, *distances);
    return std::all_of(found->second.begin(), found->second.end(), [&](std::size_t reader) {
        const OnnxNode& by = graph.nodes[reader];
        const bool own = by.domain.empty() && !costed.layers[reader].empty();
        return own && (by.op == "Concat" || (by.op == "MatMul" && in_place));
    });
}

} // namespace

void join_biases(const OnnxGraph& graph, Costed& costed) {
    const Readers readers = readers_of(graph);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const OnnxNode& node = graph.nodes[i];
        auto& layers = costed.layers[i];
        if (node.op != "MatMul" || !node.domain.empty() || node.outputs.empty() ||
            layers.size() != 1 || layers.front().op != model::Op::gemm) {
            continue;
        }
        const auto bias = bias_of(graph, readers, costed, i);
        if (!bias) {
            continue;
        }
        const Count learned = costed.layers[bias->sum].front().parameters.value_or(0);
        costed.values.at(bias->vector).origin = Origin::constant; // part of the product's weights
        layers.front().parameters = layers.front().parameters.value_or(0) + learned;
        costed.layers[bias->sum].clear();
    }
}

void join_movements(const OnnxGraph& graph, Costed& costed) {
    const Readers readers = readers_of(graph);
    for (std::size_t i = graph.nodes.size(); i-- > 0;) {
        const OnnxNode& node = graph.nodes[i];
        const bool moves = node.op == "Transpose" || node.op == "Slice";
        if (!moves || !node.domain.empty() || node.inputs.empty() || node.outputs.empty() ||
            costed.layers[i].empty()) {
            continue;
        }
        if (moves_nothing(graph, readers, costed, node)) {
            costed.layers[i].clear();
        }
    }
}

} // namespace eyeroof::formats::onnx
