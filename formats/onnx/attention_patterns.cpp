#include "formats/onnx/attention_patterns.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

constexpr std::size_t kLongestWay = 12; // nodes between a product and the softmax

bool passes(std::string_view op) {
    constexpr std::array<std::string_view, 12> kinds = {"Add",   "Mul",     "Div",      "Sub",
                                                        "Where", "Cast",    "Identity", "Dropout",
                                                        "Max",   "Reshape", "Tanh",     "IsNaN"};
    return std::find(kinds.begin(), kinds.end(), op) != kinds.end();
}

class Finder {
  public:
    Finder(const OnnxGraph& graph, const Costed& costed) : graph_(graph), costed_(costed) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            for (const std::string& name : graph.nodes[i].outputs) {
                makers_[name] = i;
            }
            for (const std::string_view name : graph.nodes[i].reads()) {
                readers_[name].push_back(i);
            }
        }
    }

    std::optional<AttentionPattern> around(std::size_t softmax) const {
        AttentionPattern pattern;
        pattern.between.push_back(softmax);
        const auto scores = back(graph_.nodes[softmax], pattern);
        const auto context = forth(graph_.nodes[softmax], pattern);
        const auto shape = scores && context ? shape_of(*scores, *context) : std::nullopt;
        if (!shape) {
            return std::nullopt;
        }
        pattern.scores = *scores;
        pattern.context = *context;
        pattern.shape = *shape;
        return pattern;
    }

  private:
    bool is_product(std::size_t node) const {
        const auto& layers = costed_.layers[node];
        return layers.size() == 1 && layers.front().op == model::Op::bmm;
    }

    // To the product that the softmax's input comes from.
    std::optional<std::size_t> back(const OnnxNode& from, AttentionPattern& pattern) const {
        const OnnxNode* node = &from;
        for (std::size_t way = 0; way < kLongestWay; ++way) {
            std::optional<std::size_t> next;
            for (const std::string& name : node->inputs) { // of a mask and scores, the scores
                const auto maker = makers_.find(name);
                if (maker != makers_.end() && is_product(maker->second)) {
                    return maker->second;
                }
                const bool goes_on = maker != makers_.end() &&
                                     passes(graph_.nodes[maker->second].op) &&
                                     !costed_.layers[maker->second].empty();
                next = !next && goes_on ? std::optional(maker->second) : next;
            }
            if (!next) {
                return std::nullopt;
            }
            pattern.between.push_back(*next);
            node = &graph_.nodes[*next];
        }
        return std::nullopt;
    }

    std::optional<std::size_t> forth(const OnnxNode& from, AttentionPattern& pattern) const {
        const OnnxNode* node = &from;
        for (std::size_t way = 0; way < kLongestWay && !node->outputs.empty(); ++way) {
            const auto readers = readers_.find(node->outputs.front());
            if (readers == readers_.end()) {
                return std::nullopt;
            }
            std::optional<std::size_t> next;
            for (const std::size_t reader : readers->second) {
                if (is_product(reader) &&
                    graph_.nodes[reader].inputs.front() == node->outputs.front()) {
                    return reader;
                }
                next = passes(graph_.nodes[reader].op) ? std::optional(reader) : next;
            }
            if (!next) {
                return std::nullopt;
            }
            pattern.between.push_back(*next);
            node = &graph_.nodes[*next];
        }
        return std::nullopt;
    }

    std::optional<model::AttentionShape> shape_of(std::size_t scores, std::size_t context) const {
        const auto& first = std::get<model::GemmShape>(costed_.layers[scores].front().shape);
        const auto& second = std::get<model::GemmShape>(costed_.layers[context].front().shape);
        if (first.batch != second.batch || first.m != second.m || first.n != second.k) {
            return std::nullopt;
        }
        const auto query = costed_.values.find(graph_.nodes[scores].inputs.front());
        const bool apart = query != costed_.values.end() && query->second.rank() == 4;
        const Count heads = apart ? (*query->second.dims)[1] : first.batch;
        if (heads < 1 || first.batch % heads != 0) {
            return std::nullopt;
        }
        model::AttentionShape shape{first.batch / heads, heads, first.m, first.n, first.k};
        shape.v = second.n == first.k ? 0 : second.n;
        return shape;
    }

    const OnnxGraph& graph_;
    const Costed& costed_;
    std::map<std::string_view, std::size_t> makers_;
    std::map<std::string_view, std::vector<std::size_t>> readers_;
};

} // namespace

std::vector<AttentionPattern> find_attention(const OnnxGraph& graph, const Costed& costed) {
    std::vector<AttentionPattern> patterns;
    const Finder finder(graph, costed);
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const bool softmax = graph.nodes[i].op == "Softmax" && !costed.layers[i].empty();
        if (auto pattern = softmax ? finder.around(i) : std::nullopt) {
            patterns.push_back(std::move(*pattern));
        }
    }
    return patterns;
}

void forget_masks(const OnnxGraph& graph, const std::vector<AttentionPattern>& patterns,
                  Costed& costed) {
    for (const AttentionPattern& pattern : patterns) {
        for (const std::size_t at : pattern.between) {
            auto& layers = costed.layers[at];
            if (graph.nodes[at].op != "Add" || layers.size() != 1) {
                continue;
            }
            for (const std::string& name : graph.nodes[at].inputs) {
                const auto known = costed.values.find(name);
                if (known == costed.values.end()) {
                    continue;
                }
                const auto elements = known->second.elements(); // fewer than stored: of several
                const bool stored = known->second.rank() >= 2 &&
                                    known->second.origin == Origin::constant && elements &&
                                    *elements <= layers.front().parameters;
                layers.front().parameters = stored ? 0 : layers.front().parameters;
            }
        }
    }
}

void fuse_attention(const std::vector<AttentionPattern>& patterns, Costed& costed) {
    for (const AttentionPattern& pattern : patterns) {
        auto& place = costed.layers[pattern.context];
        if (place.size() != 1 || costed.layers[pattern.scores].size() != 1) {
            continue; // another pattern had it
        }
        place.front().op = model::Op::attention;
        place.front().shape = pattern.shape;
        costed.layers[pattern.scores].clear();
        for (const std::size_t node : pattern.between) {
            costed.layers[node].clear();
        }
    }
}

} // namespace eyeroof::formats::onnx
