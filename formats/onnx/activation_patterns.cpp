#include "formats/onnx/activation_patterns.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

class Joiner {
  public:
    Joiner(const OnnxGraph& graph, Costed& costed)
        : graph_(graph), costed_(costed), given_(graph.outputs.begin(), graph.outputs.end()) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            for (const std::string& name : graph.nodes[i].outputs) {
                makers_[name] = i;
            }
            for (const std::string_view name : graph.nodes[i].reads()) {
                readers_[name].push_back(i);
            }
        }
    }

    void join() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            if (!is_function(i)) {
                continue;
            }
            const std::string& op = graph_.nodes[i].op;
            if (op == "Sigmoid" || op == "HardSigmoid") {
                gated(i, op == "Sigmoid" ? "silu" : "hardswish");
            } else if (op == "Erf") {
                gaussian(i);
            }
        }
    }

  private:
    bool is_function(std::size_t node) const {
        const auto& layers = costed_.layers[node];
        return layers.size() == 1 && layers.front().op == model::Op::elementwise &&
               layers.front().count == 1 && graph_.nodes[node].outputs.size() == 1;
    }

    bool constant(const std::string& name) const {
        const auto value = costed_.values.find(name);
        return value != costed_.values.end() && value->second.origin == Origin::constant;
    }

    // The only node that reads this one's result.
    std::optional<std::size_t> reader(std::size_t node, std::string_view op) const {
        const std::string& made = graph_.nodes[node].outputs.front();
        const auto found = readers_.find(made);
        const bool one =
            found != readers_.end() && found->second.size() == 1 && !given_.contains(made);
        return one && graph_.nodes[found->second.front()].op == op &&
                       graph_.nodes[found->second.front()].inputs.size() == 2 &&
                       is_function(found->second.front())
                   ? std::optional(found->second.front())
                   : std::nullopt;
    }

    // The operand of a node of two that is not `name`.
    const std::string& other(std::size_t node, const std::string& name) const {
        const auto& inputs = graph_.nodes[node].inputs;
        return inputs[0] == name ? inputs[1] : inputs[0];
    }
    const std::string& made_by(std::size_t node) const {
        return graph_.nodes[node].outputs.front();
    }

    void become(std::size_t last, const std::string& fn, const std::vector<std::size_t>& parts) {
        auto& shape = std::get<model::ElementwiseShape>(costed_.layers[last].front().shape);
        shape.fn = fn;
        for (const std::size_t part : parts) {
            costed_.layers[part].clear();
        }
    }

    void gated(std::size_t gate, const std::string& fn) {
        const auto product = reader(gate, "Mul");
        if (product && other(*product, made_by(gate)) == graph_.nodes[gate].inputs.front()) {
            become(*product, fn, {gate});
        }
    }

    // A node of two operands, one of them constant: what it takes, or nothing.
    const std::string* scaled(std::size_t node) const {
        const auto& inputs = graph_.nodes[node].inputs;
        if (inputs.size() != 2 || constant(inputs[0]) == constant(inputs[1])) {
            return nullptr;
        }
        return constant(inputs[0]) ? &inputs[1] : &inputs[0];
    }

    // x / sqrt(2) -> erf -> + 1 -> times x, halved before or after.
    void gaussian(std::size_t erf) {
        const auto scale = makers_.find(graph_.nodes[erf].inputs.front());
        if (scale == makers_.end() || !is_function(scale->second) || !reader(scale->second, erf)) {
            return;
        }
        const std::string* x = scaled(scale->second);
        const auto sum = x != nullptr ? reader(erf, "Add") : std::nullopt;
        if (!sum || scaled(*sum) == nullptr) {
            return;
        }
        std::vector<std::size_t> parts = {scale->second, erf, *sum};
        auto last = reader(*sum, "Mul");
        bool times_x = false;
        bool halved = false;
        while (last && (!times_x || !halved)) {
            const std::string& by = other(*last, made_by(parts.back()));
            const std::optional<std::size_t> half = half_of(by, *x);
            if (!times_x && by == *x) {
                times_x = true;
            } else if (!times_x && !halved && half) {
                parts.insert(parts.begin(), *half);
                times_x = halved = true;
            } else if (!halved && constant(by)) {
                halved = true;
            } else {
                return;
            }
            parts.push_back(*last);
            last = reader(*last, "Mul");
        }
        if (times_x && halved) {
            const std::size_t end = parts.back();
            parts.pop_back();
            become(end, "gelu", parts);
        }
    }

    bool reader(std::size_t node, std::size_t only) const {
        const auto found = readers_.find(made_by(node));
        return found != readers_.end() && found->second == std::vector<std::size_t>{only} &&
               !given_.contains(made_by(node));
    }

    // The node that makes `name` of x and a constant, for no one else.
    std::optional<std::size_t> half_of(const std::string& name, const std::string& x) const {
        const auto maker = makers_.find(name);
        if (maker == makers_.end() || graph_.nodes[maker->second].op != "Mul" ||
            !is_function(maker->second) || readers_.at(name).size() != 1) {
            return std::nullopt;
        }
        const std::string* of = scaled(maker->second);
        return of != nullptr && *of == x ? std::optional(maker->second) : std::nullopt;
    }

    const OnnxGraph& graph_;
    Costed& costed_;
    std::set<std::string_view> given_; // by the network
    std::map<std::string_view, std::size_t> makers_;
    std::map<std::string_view, std::vector<std::size_t>> readers_;
};

} // namespace

void join_activations(const OnnxGraph& graph, Costed& costed) {
    Joiner(graph, costed).join();
}

} // namespace eyeroof::formats::onnx
