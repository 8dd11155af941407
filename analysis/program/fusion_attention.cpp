// Attention written out, as one kernel.
#include "analysis/program/fusion.hpp"

#include <algorithm>

namespace eyeroof::analysis::step {

using model::GraphStep;
using model::GraphStepKind;
using model::Layer;
using model::Op;

namespace {

// An attention kernel for the shapes of scores and values.
Layer attention_of(const Layer& scores, const Layer& values) {
    const auto& s = std::get<model::GemmShape>(scores.shape);
    const auto& mix = std::get<model::GemmShape>(values.shape);
    Layer made = scores;
    made.name = scores.name + "_attention";
    made.op = Op::attention;
    model::AttentionShape shape;
    shape.batch = 1;
    shape.groups = s.batch;
    shape.m = s.m;
    shape.n = s.n;
    shape.k = s.k;
    shape.v = mix.n == s.k ? 0 : mix.n;
    made.shape = shape;
    made.parameters.reset();
    return made;
}

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

// Values may be smaller than keys; queries that meet a latent of more than the 256 elements that
// attention kernels take for a head are products of their own.
bool takes_back(const model::GemmShape& scores, const model::GemmShape& mix) {
    constexpr Count kWidestHead = 256;
    return mix.batch == scores.batch && mix.m == scores.m && mix.k == scores.n &&
           (mix.n == scores.k || std::max(mix.n, scores.k) <= kWidestHead);
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
        if (elements(layers[i]) != scores->batch * scores->m * scores->n ||
            model::parameters_of(layers[i]) > 0) {
            break; // a learned bias has a gradient, which attention kernels do not return
        }
        softmax = softmax || layers[i].op == Op::softmax;
    }
    return first;
}

// Whether another product of its size stands before it: their sum is no attention that kernels
// know, as the scores of contents and positions of Transformer-XL.
bool is_summed(const Layers& layers, std::size_t at) {
    const auto* now = product(layers[at]);
    const auto* before = at > 0 ? product(layers[at - 1]) : nullptr;
    return now != nullptr && before != nullptr && *now == *before;
}

// Without edges, neighbors of equal counts are taken to read each other.
Rewired by_neighbors(const model::Network& network) {
    Rewired result{network, std::nullopt, 0};
    result.network.layers.clear();
    for (std::size_t i = 0; i < network.layers.size();) {
        const std::size_t behind =
            is_summed(network.layers, i) ? i : behind_attention(network.layers, i);
        const Layer& layer = network.layers[i];
        result.network.layers.push_back(behind > i ? attention_of(layer, network.layers[behind - 1])
                                                   : layer);
        result.replaced += behind > i ? static_cast<std::size_t>(layer.count) : 0;
        i = behind > i ? behind : i + 1;
    }
    return result;
}

// Steps of one attention: first product, what follows it, second product.
struct Match {
    std::vector<std::size_t> steps;
    std::size_t first = 0, last = 0;
};

class Matcher {
  public:
    Matcher(const model::Network& network, const GraphEdges& edges)
        : network_(network), edges_(edges), readers_(edges.steps.size()) {
        for (std::size_t i = 0; i < edges.steps.size(); ++i) {
            for (const std::size_t read : edges.steps[i].reads) {
                if (read < readers_.size()) {
                    readers_[read].push_back(i);
                }
            }
        }
    }

    std::optional<Match> at(std::size_t i) const {
        if (!runs(i, Op::bmm) || learned(i)) {
            return std::nullopt;
        }
        Match match{{i}, i, i};
        bool softmax = false;
        for (std::size_t now = i;;) {
            if (readers_[now].size() != 1 || edges_.steps[now].output) {
                return std::nullopt;
            }
            now = readers_[now].front();
            if (edges_.steps[now].kind != GraphStepKind::run ||
                edges_.steps[now].reads.front() != match.steps.back()) {
                return std::nullopt;
            }
            match.steps.push_back(now);
            if (runs(now, Op::bmm)) {
                match.last = now;
                return softmax && agree(match) ? std::optional(match) : std::nullopt;
            }
            softmax = softmax || runs(now, Op::softmax);
            const auto& reads = edges_.steps[now].reads;
            const bool pointwise = runs(now, Op::softmax) || runs(now, Op::elementwise);
            if (!pointwise || learned(now) ||
                std::any_of(reads.begin() + 1, reads.end(), [this](std::size_t side) {
                    return is_product(side);
                })) { // the sum of two products is no attention that kernels know
                return std::nullopt;
            }
        }
    }

    Layer kernel(const Match& match) const {
        return attention_of(layer(match.first), layer(match.last));
    }

  private:
    const Layer& layer(std::size_t step) const { return network_.layers[edges_.steps[step].layer]; }
    bool runs(std::size_t step, Op op) const {
        return edges_.steps[step].kind == GraphStepKind::run && layer(step).op == op &&
               layer(step).direction == model::Direction::fwd;
    }
    // A product of activations, or pointwise operators on one.
    bool is_product(std::size_t step) const {
        while (step < edges_.steps.size() && runs(step, Op::elementwise)) {
            step = edges_.steps[step].reads.front();
        }
        return step < edges_.steps.size() && runs(step, Op::bmm);
    }
    bool learned(std::size_t step) const { return model::parameters_of(layer(step)) > 0; }

    // [m x k] x [k x n], then [m x n] x [n x v]: what one head computes.
    bool agree(const Match& match) const {
        const auto& a = std::get<model::GemmShape>(layer(match.first).shape);
        const auto& b = std::get<model::GemmShape>(layer(match.last).shape);
        return !learned(match.last) && takes_back(a, b) &&
               edges_.steps[match.first].reads.size() == 2 &&
               edges_.steps[match.last].reads.size() == 2;
    }

    const model::Network& network_;
    const GraphEdges& edges_;
    std::vector<std::vector<std::size_t>> readers_;
};

// What pointwise operators between the products read beside the scores, masks and scales: the
// kernel reads it after its operands.
void add_sides(const GraphEdges& edges, const Match& match, std::vector<std::size_t>& reads) {
    const auto among = [](const std::vector<std::size_t>& steps, std::size_t step) {
        return std::find(steps.begin(), steps.end(), step) != steps.end();
    };
    for (const std::size_t inside : match.steps) {
        if (inside == match.first || inside == match.last) {
            continue;
        }
        for (const std::size_t read : edges.steps[inside].reads) {
            const bool step = read < edges.steps.size();
            if (step && !among(match.steps, read) && !among(reads, read)) {
                reads.push_back(read);
            }
        }
    }
}

// Layers without a run, and the steps' numbers of those that stay.
void drop_what_runs_no_more(Layers& layers, GraphEdges& edges) {
    std::vector<std::size_t> now(layers.size(), 0);
    Layers kept;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        now[i] = kept.size();
        if (layers[i].count > 0) {
            kept.push_back(std::move(layers[i]));
        }
    }
    for (GraphStep& step : edges.steps) {
        if (step.kind == GraphStepKind::run) {
            step.layer = now[step.layer];
        }
    }
    layers = std::move(kept);
}

} // namespace

Rewired with_attention(const model::Network& network, const std::optional<GraphEdges>& edges) {
    if (!edges) {
        return by_neighbors(network);
    }
    Rewired result{network, edges, 0};
    const Matcher matcher(network, *edges);
    GraphEdges made;
    made.places = edges->places;
    made.names = edges->names;
    std::vector<std::size_t> now(edges->steps.size()); // where a step stands in the new edges
    std::vector<bool> gone(edges->steps.size(), false);
    std::vector<std::optional<Match>> ends(edges->steps.size());
    for (std::size_t i = 0; i < edges->steps.size(); ++i) {
        if (const auto match = matcher.at(i)) {
            for (const std::size_t step : match->steps) {
                gone[step] = true;
            }
            ends[match->last] = match;
        }
    }
    std::vector<std::size_t> kernels(network.layers.size(), 0); // by the layer of the scores
    for (std::size_t i = 0; i < edges->steps.size(); ++i) {
        if (gone[i] && !ends[i]) {
            continue;
        }
        GraphStep step = edges->steps[i];
        if (ends[i]) {
            const Match& match = *ends[i];
            const GraphStep& scores = edges->steps[match.first];
            std::size_t& layer = kernels[scores.layer];
            if (layer == 0) {
                result.network.layers.push_back(matcher.kernel(match));
                result.network.layers.back().count = 0;
                layer = result.network.layers.size() - 1;
            }
            ++result.network.layers[layer].count;
            ++result.replaced;
            step.layer = layer;
            step.reads = {scores.reads[0], scores.reads[1], edges->steps[i].reads[1]};
            add_sides(*edges, match, step.reads);
            for (const std::size_t old : match.steps) {
                --result.network.layers[edges->steps[old].layer].count;
            }
        }
        for (std::size_t& read : step.reads) {
            read = read < now.size() ? now[read] : read;
        }
        now[i] = made.steps.size();
        made.steps.push_back(std::move(step));
    }
    drop_what_runs_no_more(result.network.layers, made);
    result.edges = std::move(made);
    return result;
}

} // namespace eyeroof::analysis::step
