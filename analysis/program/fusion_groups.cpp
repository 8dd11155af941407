#include "analysis/program/fusion_groups.hpp"

#include <algorithm>

namespace eyeroof::analysis::step {

using model::Layer;
using model::Op;

bool reduces_whole(const Layer& layer) {
    const auto* pool = std::get_if<model::PoolShape>(&layer.shape);
    return pool != nullptr && layer.direction == model::Direction::fwd && pool->r == pool->h &&
           (pool->s == pool->w || (pool->s == 1 && pool->stride.w == 1)) &&
           pool->pad == model::Extent2{0, 0};
}

namespace {

enum class Part { pointwise, reduction, alone };

bool trains(const Graph& graph) {
    return !graph.operators.empty() && graph.operators.back().kind != model::Issued::forward;
}

Part part_of(const Layer& layer, bool training) {
    if (const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape)) {
        const bool link = e->fn == "h2d" || e->fn == "d2h" || e->fn == "peer";
        const bool pass = e->fn == "to_channels_last" || e->fn == "to_channels_first";
        const bool update = pass || e->fn == "adam" || e->fn.starts_with("sgd") ||
                            e->fn == "fill" || e->fn == "scan";
        return link || update ? Part::alone : Part::pointwise;
    }
    if (reduces_whole(layer)) {
        return Part::reduction;
    }
    switch (layer.op) {
    case Op::rope:
        return Part::pointwise;
    case Op::softmax:
    case Op::layernorm:
        return Part::reduction;
    case Op::batchnorm: // with running statistics it scales and shifts
        return training                                             ? Part::alone
               : std::get<model::RowsShape>(layer.shape).images > 0 ? Part::reduction
                                                                    : Part::pointwise;
    default:
        return Part::alone;
    }
}

// Elements over which a kernel of this layer runs: of its output, of a gradient the input's.
Count elements_of(const Layer& layer) {
    const Operands operands = operands_of(layer);
    if (layer.direction == model::Direction::bwd_data || reduces_whole(layer)) {
        return operands.reads.empty() ? operands.writes : operands.reads.front();
    }
    return operands.writes;
}

class Grouper {
  public:
    Grouper(const Graph& graph) : graph_(graph), group_(graph.operators.size()) {
        const bool training = trains(graph);
        for (const Layer& layer : graph.layers) {
            parts_.push_back(part_of(layer, training));
            elements_.push_back(elements_of(layer));
        }
        readers_.resize(graph.tensors.size());
        writer_.assign(graph.tensors.size(), kNone);
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph.operators.size()); ++i) {
            for (const TensorId t : graph.reads_of(graph.operators[i])) {
                readers_[t].push_back(i);
            }
        }
    }

    // Lists of operators, in order; singles too.
    std::vector<std::vector<OperatorId>> find() {
        std::vector<std::vector<OperatorId>> groups;
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph_.operators.size()); ++i) {
            const std::size_t joined = joins(i, groups);
            if (joined < groups.size()) {
                groups[joined].push_back(i);
                group_[i] = joined;
            } else {
                group_[i] = groups.size();
                groups.push_back({i});
            }
            for (const TensorId t : graph_.writes_of(graph_.operators[i])) {
                writer_[t] = i;
            }
        }
        return groups;
    }

  private:
    // The group of something that it reads, and that it may join; else none.
    std::size_t joins(OperatorId i, const std::vector<std::vector<OperatorId>>& groups) const {
        const Operator& op = graph_.operators[i];
        const Part part = parts_[op.layer];
        if (part == Part::alone) {
            return groups.size();
        }
        for (const TensorId t : graph_.reads_of(op)) {
            if (writer_[t] == kNone) {
                continue;
            }
            const std::size_t g = group_[writer_[t]];
            if (fits(op, part, groups[g]) && may_move(i, groups[g])) {
                return g;
            }
        }
        return groups.size();
    }

    bool fits(const Operator& op, Part part, const std::vector<OperatorId>& group) const {
        constexpr std::size_t kMostMembers = 16; // registers for side operands
        bool reduction = false;
        Count space = 0;   // elements that the group's kernel runs over
        Count results = 0; // of its sums: what is pointwise on them belongs to their rows
        for (const OperatorId member : group) {
            const std::uint32_t layer = graph_.operators[member].layer;
            const Part p = parts_[layer];
            reduction = reduction || p == Part::reduction;
            space = std::max(space, elements_[layer]);
            if (p == Part::alone) {
                return false;
            }
            if (reduces_whole(graph_.layers[layer])) {
                const Count own = operands_of(graph_.layers[layer]).writes;
                results = results == 0 || results == own ? own : -1;
            }
        }
        const Count own = elements_[op.layer];
        const bool on_results = results > 0 && own == results && part == Part::pointwise;
        const bool again = part == Part::reduction && results > 0 &&
                           reduces_whole(graph_.layers[op.layer]) &&
                           operands_of(graph_.layers[op.layer]).writes == results;
        return group.size() < kMostMembers && (own == space || on_results) &&
               graph_.operators[group.back()].kind == op.kind &&
               (part != Part::reduction || !reduction || again);
    }

    // All members come to stand where i stands: no one between may read or overwrite what they
    // touch.
    bool may_move(OperatorId i, const std::vector<OperatorId>& group) const {
        for (const OperatorId member : group) {
            for (const TensorId t : graph_.writes_of(graph_.operators[member])) {
                for (const OperatorId reader : readers_[t]) {
                    const bool inside =
                        std::find(group.begin(), group.end(), reader) != group.end();
                    if (reader < i && reader > member && !inside) {
                        return false;
                    }
                }
                if (writer_[t] != member) {
                    return false; // written over since
                }
            }
            for (const TensorId t : graph_.reads_of(graph_.operators[member])) {
                const OperatorId by = writer_[t];
                const bool inside =
                    by != kNone && std::find(group.begin(), group.end(), by) != group.end();
                if (by != kNone && by > member && !inside) {
                    return false; // would read what came later
                }
            }
        }
        return true;
    }

    const Graph& graph_;
    std::vector<Part> parts_;
    std::vector<Count> elements_;
    std::vector<std::vector<OperatorId>> readers_;
    std::vector<OperatorId> writer_; // last one so far
    std::vector<std::size_t> group_;
};

} // namespace

std::vector<std::vector<OperatorId>> fusible_groups(const Graph& graph) {
    return Grouper(graph).find();
}

} // namespace eyeroof::analysis::step
