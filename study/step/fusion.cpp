#include "study/step/fusion.hpp"

#include "model/gpu/predict.hpp"
#include "study/step/fusion_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::study::step {

using model::Count;
using model::Layer;
using model::Op;

namespace {

// Builds the graph in which groups are operators.
class Merger {
  public:
    Merger(const Graph& graph, const Costs& costs, const model::Gpu& gpu)
        : graph_(graph), costs_(costs), gpu_(gpu) {
        fused_.graph = graph;
        fused_.graph.operators.clear();
        fused_.graph.operands.clear();
        fused_.costs = costs;
        readers_.assign(graph.tensors.size(), 0);
        for (const Operator& op : graph.operators) {
            for (const TensorId t : graph.reads_of(op)) {
                ++readers_[t];
            }
        }
    }

    Fused merge(std::vector<std::vector<OperatorId>> groups) {
        std::sort(groups.begin(), groups.end(),
                  [](const auto& a, const auto& b) { return a.back() < b.back(); });
        for (const auto& group : groups) {
            add(group);
        }
        for (const auto& [key, made] : known_) {
            if (made.group.runs > 0) {
                fused_.groups.push_back(made.group);
            }
        }
        const auto gain = [](const FusedGroup& g) {
            return (g.before_s - g.after_s) * static_cast<double>(g.runs);
        };
        std::stable_sort(
            fused_.groups.begin(), fused_.groups.end(),
            [&](const FusedGroup& a, const FusedGroup& b) { return gain(a) > gain(b); });
        for (Tensor& tensor : fused_.graph.tensors) {
            tensor.producer = kNone;
        }
        for (OperatorId i = 0; i < static_cast<OperatorId>(fused_.graph.operators.size()); ++i) {
            const Operator& op = fused_.graph.operators[i];
            for (const TensorId t : fused_.graph.writes_of(op)) {
                Tensor& tensor = fused_.graph.tensors[t];
                const bool there = graph_.tensors[t].producer == kNone;
                tensor.producer = tensor.producer == kNone && !there ? i : tensor.producer;
            }
        }
        return std::move(fused_);
    }

  private:
    struct Made {
        FusedGroup group;
        LayerCost cost;
    };
    struct Outside {
        std::vector<TensorId> reads, writes;
        std::vector<double> bytes; // of each member, from and to the outside
    };

    static bool has(const std::vector<TensorId>& list, TensorId t) {
        return std::find(list.begin(), list.end(), t) != list.end();
    }

    Outside outside_of(const std::vector<OperatorId>& group) const {
        Outside out;
        std::vector<TensorId> made;
        std::map<TensorId, std::size_t> inside_reads;
        for (const OperatorId member : group) {
            for (const TensorId t : graph_.reads_of(graph_.operators[member])) {
                ++inside_reads[t];
            }
        }
        for (const OperatorId member : group) {
            double bytes = 0.0;
            const Operator& op = graph_.operators[member];
            for (const TensorId t : graph_.reads_of(op)) {
                if (!has(made, t) && !has(out.reads, t)) {
                    out.reads.push_back(t);
                    bytes += static_cast<double>(graph_.tensors[t].bytes);
                }
            }
            for (const TensorId t : graph_.writes_of(op)) {
                const bool stays_inside =
                    !graph_.tensors[t].output && inside_reads[t] == readers_[t] && readers_[t] > 0;
                if (!stays_inside && !has(out.writes, t)) {
                    out.writes.push_back(t);
                    bytes += static_cast<double>(graph_.tensors[t].bytes);
                }
                made.push_back(t);
            }
            out.bytes.push_back(bytes);
        }
        return out;
    }

    double bytes_of(const Operator& op) const {
        double bytes = 0.0;
        for (const TensorId t : graph_.reads_of(op)) {
            bytes += static_cast<double>(graph_.tensors[t].bytes);
        }
        for (const TensorId t : graph_.writes_of(op)) {
            bytes += static_cast<double>(graph_.tensors[t].bytes);
        }
        return std::max(bytes, 1.0);
    }

    LayerCost cost_of(const std::vector<OperatorId>& group, const Outside& out) const {
        LayerCost sum;
        double moved_s = 0.0, sm_s = 0.0, product_s = 0.0, start_s = 0.0, alone = 0.0;
        for (std::size_t i = 0; i < group.size(); ++i) {
            const Operator& op = graph_.operators[group[i]];
            const LayerCost& own = costs_.layers[op.layer];
            alone += own.alone_s;
            sum.low_s += own.low_s;
            sum.high_s += own.high_s;
            sum.flops += own.flops;
            sum.share = std::max(i == 0 ? 0.0 : sum.share, own.share);
            sum.bytes += own.bytes * std::min(out.bytes[i] / bytes_of(op), 1.0);
            const double share = std::min(out.bytes[i] / bytes_of(op), 1.0);
            if (own.moved_s <= 0.0) { // a product: it moves its tensors as it did
                product_s += own.device_s;
                continue;
            }
            start_s = std::max(start_s, own.device_s - std::hypot(own.moved_s, own.sm_s));
            moved_s += own.moved_s * share;
            sm_s += own.sm_s;
        }
        start_s = product_s > 0.0 ? 0.0 : std::max(start_s, 0.0);
        sum.device_s = product_s + start_s + std::hypot(moved_s, sm_s);
        const double scale = alone > 0.0 ? sum.device_s / alone : 1.0;
        sum.alone_s =
            sum.device_s + (costs_.layers[graph_.operators[group.front()].layer].alone_s -
                            costs_.layers[graph_.operators[group.front()].layer].device_s);
        sum.low_s *= scale;
        sum.high_s *= scale;
        sum.moved_s = product_s > 0.0 ? 0.0 : moved_s;
        sum.sm_s = sm_s;
        return sum;
    }

    void emit(const Operator& like, std::uint32_t layer, std::uint32_t number,
              const std::vector<TensorId>& reads, const std::vector<TensorId>& writes) {
        Graph& g = fused_.graph;
        Operator op = like;
        op.layer = layer;
        op.number = number;
        op.forward = kNone;
        op.first_read = static_cast<std::uint32_t>(g.operands.size());
        op.reads = static_cast<std::uint32_t>(reads.size());
        g.operands.insert(g.operands.end(), reads.begin(), reads.end());
        op.first_write = static_cast<std::uint32_t>(g.operands.size());
        op.writes = static_cast<std::uint32_t>(writes.size());
        g.operands.insert(g.operands.end(), writes.begin(), writes.end());
        g.operators.push_back(op);
    }

    void keep(OperatorId i) {
        const Operator& op = graph_.operators[i];
        emit(op, op.layer, op.number, graph_.reads_of(op), graph_.writes_of(op));
    }

    // Groups of the same layers with the same tensors outside cost the same.
    std::string key_of(const std::vector<OperatorId>& group, const Outside& out) const {
        std::string key;
        for (std::size_t i = 0; i < group.size(); ++i) {
            key += fmt::format("{}:{} ", graph_.operators[group[i]].layer, out.bytes[i]);
        }
        return key;
    }

    void add(const std::vector<OperatorId>& group) {
        if (group.size() == 1) {
            keep(group.front());
            return;
        }
        const Outside out = outside_of(group);
        auto [at, fresh] = known_.try_emplace(key_of(group, out));
        Made& made = at->second;
        if (fresh) {
            made.cost = cost_of(group, out);
            made.group.operators = group.size();
            made.group.after_s = made.cost.device_s;
            for (const OperatorId member : group) {
                made.group.before_s += costs_.layers[graph_.operators[member].layer].device_s;
            }
        }
        if (made.group.after_s >= made.group.before_s) {
            for (const OperatorId member : group) {
                keep(member);
            }
            return;
        }
        if (made.group.runs == 0) {
            made.group.layer = new_layer(group, made.cost);
        }
        const auto number = static_cast<std::uint32_t>(made.group.runs++);
        note(group, made);
        emit(graph_.operators[group.back()], made.group.layer, number, out.reads, out.writes);
    }

    std::uint32_t new_layer(const std::vector<OperatorId>& group, const LayerCost& cost) {
        Layer layer = graph_.layers[graph_.operators[group.front()].layer];
        for (std::size_t i = 1; i < group.size(); ++i) {
            layer.name += "+" + graph_.layers[graph_.operators[group[i]].layer].name;
        }
        layer.count = std::max<Count>(layer.count, 2); // its runs are told apart by number
        fused_.graph.layers.push_back(layer);
        fused_.costs.layers.push_back(cost);
        return static_cast<std::uint32_t>(fused_.graph.layers.size() - 1);
    }

    void note(const std::vector<OperatorId>& group, const Made& made) {
        double starts = 0.0, longest = 0.0;
        for (const OperatorId member : group) {
            const LayerCost& own = costs_.layers[graph_.operators[member].layer];
            const double start =
                own.moved_s > 0.0 ? own.device_s - std::hypot(own.moved_s, own.sm_s) : 0.0;
            starts += std::max(start, 0.0);
            longest = std::max(longest, start);
        }
        const bool product = costs_.layers[graph_.operators[group.front()].layer].moved_s <= 0.0;
        const double scheduling = product ? starts : starts - longest;
        fused_.saved.scheduling_s += scheduling;
        fused_.saved.traffic_s += made.group.before_s - made.group.after_s - scheduling;
        fused_.saved.launches += group.size() - 1;
    }

    const Graph& graph_;
    const Costs& costs_;
    const model::Gpu& gpu_;
    std::vector<std::size_t> readers_;
    std::map<std::string, Made> known_;
    Fused fused_;
};

} // namespace

Fused fuse(const Graph& graph, const Costs& costs, const model::Gpu& gpu) {
    return Merger(graph, costs, gpu).merge(fusible_groups(graph));
}

} // namespace eyeroof::study::step
