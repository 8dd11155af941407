#include "formats/onnx/position_tables.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

using Readers = std::map<std::string_view, std::vector<std::size_t>>;

Readers readers_in(const OnnxGraph& graph) {
    Readers readers;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const std::string_view name : graph.nodes[i].reads()) {
            readers[name].push_back(i);
        }
    }
    return readers;
}

bool keeps_elements(std::string_view op) {
    static const std::set<std::string_view> all = {"Cast",    "Expand", "Gather",    "Identity",
                                                   "Reshape", "Slice",  "Transpose", "Unsqueeze"};
    return all.contains(op);
}

bool makes_places(std::string_view op) {
    return keeps_elements(op) || op == "Mul" || op == "Add" || op == "Concat" || op == "MatMul" ||
           op == "Einsum";
}

class Tables {
  public:
    Tables(const OnnxGraph& graph, const Costed& costed)
        : graph_(graph), costed_(costed), readers_(readers_in(graph)) {}

    // Whether every reader of a tensor multiplies data by it.
    bool scales_data(const std::string& name, int depth = 0) const {
        constexpr int kLongestWay = 8;
        const auto found = readers_.find(name);
        const bool given = std::ranges::find(graph_.outputs, name) != graph_.outputs.end();
        return found != readers_.end() && !given && depth < kLongestWay &&
               std::ranges::all_of(found->second, [&](std::size_t reader) {
                   return reads_as_factor(graph_.nodes[reader], name, depth);
               });
    }

  private:
    bool reads_as_factor(const OnnxNode& node, const std::string& name, int depth) const {
        if (!node.domain.empty() || node.outputs.empty()) {
            return node.op == "RotaryEmbedding";
        }
        if (node.op == "RotaryEmbedding") {
            return true;
        }
        if (node.op == "Mul" && node.inputs.size() == 2) {
            const auto other =
                costed_.values.find(node.inputs[0] == name ? node.inputs[1] : node.inputs[0]);
            return other != costed_.values.end() && other->second.origin != Origin::constant;
        }
        return keeps_elements(node.op) && node.inputs.front() == name &&
               scales_data(node.outputs.front(), depth + 1);
    }

    const OnnxGraph& graph_;
    const Costed& costed_;
    Readers readers_;
};

} // namespace

std::vector<bool> nodes_of_angles(const OnnxGraph& graph, const std::vector<std::size_t>& order) {
    const Readers readers = readers_in(graph);
    std::vector<bool> angles(graph.nodes.size(), false);
    const auto of_angles = [&](std::size_t reader) {
        const OnnxNode& node = graph.nodes[reader];
        const bool turns = node.op == "Cos" || node.op == "Sin";
        return node.domain.empty() && (turns || angles[reader]);
    };
    for (std::size_t i = order.size(); i-- > 0;) {
        const OnnxNode& node = graph.nodes[order[i]];
        if (!node.domain.empty() || !makes_places(node.op) || node.outputs.size() != 1) {
            continue;
        }
        const auto found = readers.find(node.outputs.front());
        const bool given =
            std::ranges::find(graph.outputs, node.outputs.front()) != graph.outputs.end();
        angles[order[i]] =
            found != readers.end() && !given && std::ranges::all_of(found->second, of_angles);
    }
    return angles;
}

void forget_tables(const OnnxGraph& graph, Costed& costed) {
    const Tables tables(graph, costed);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const OnnxNode& node = graph.nodes[i];
        auto& layers = costed.layers[i];
        if (node.op == "Gather" && layers.size() == 1 && !node.outputs.empty() &&
            layers.front().parameters.value_or(0) > 0 && tables.scales_data(node.outputs.front())) {
            layers.front().parameters = 0;
        }
    }
}

} // namespace eyeroof::formats::onnx
