#include "analysis/program/fusion.hpp"

#include "analysis/program/fusion_groups.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis::step {

using model::Layer;

namespace {

bool has(const std::vector<TensorId>& list, TensorId t) {
    return std::find(list.begin(), list.end(), t) != list.end();
}

// Builds the program in which groups are operators.
class Merger {
  public:
    explicit Merger(const Graph& graph) : graph_(graph), readers_(graph.tensors.size(), 0) {
        fused_ = graph;
        fused_.operators.clear();
        fused_.operands.clear();
        for (const Operator& op : graph.operators) {
            for (const TensorId t : graph.reads_of(op)) {
                ++readers_[t];
            }
        }
    }

    Graph merge(std::vector<std::vector<OperatorId>> groups) {
        std::sort(groups.begin(), groups.end(),
                  [](const auto& a, const auto& b) { return a.back() < b.back(); });
        for (const auto& group : groups) {
            add(group);
        }
        renew_producers();
        return std::move(fused_);
    }

  private:
    struct Outside {
        std::vector<TensorId> reads, writes;
        std::vector<Count> bytes; // of each member, from and to the outside
    };

    Count bytes_of(TensorId t) const { return graph_.tensors[t].bytes; }

    std::map<TensorId, std::size_t> reads_inside(const std::vector<OperatorId>& group) const {
        std::map<TensorId, std::size_t> reads;
        for (const OperatorId member : group) {
            for (const TensorId t : graph_.reads_of(graph_.operators[member])) {
                ++reads[t];
            }
        }
        return reads;
    }

    Outside outside_of(const std::vector<OperatorId>& group) const {
        Outside out;
        std::vector<TensorId> made;
        std::map<TensorId, std::size_t> inside = reads_inside(group);
        for (const OperatorId member : group) {
            Count bytes = 0;
            const Operator& op = graph_.operators[member];
            for (const TensorId t : graph_.reads_of(op)) {
                if (!has(made, t) && !has(out.reads, t)) {
                    out.reads.push_back(t);
                    bytes += bytes_of(t);
                }
            }
            for (const TensorId t : graph_.writes_of(op)) {
                const bool stays =
                    !graph_.tensors[t].output && inside[t] == readers_[t] && readers_[t] > 0;
                if (!stays && !has(out.writes, t)) {
                    out.writes.push_back(t);
                    bytes += bytes_of(t);
                }
                made.push_back(t);
            }
            out.bytes.push_back(bytes);
        }
        return out;
    }

    double share_outside(const Operator& op, Count outside) const {
        Count all = 0;
        for (const TensorId t : graph_.reads_of(op)) {
            all += bytes_of(t);
        }
        for (const TensorId t : graph_.writes_of(op)) {
            all += bytes_of(t);
        }
        return all > 0 ? std::min(static_cast<double>(outside) / static_cast<double>(all), 1.0)
                       : 1.0;
    }

    void emit(const Operator& like, std::uint32_t layer, std::uint32_t number,
              const std::vector<TensorId>& reads, const std::vector<TensorId>& writes) {
        Operator op = like;
        op.layer = layer;
        op.number = number;
        op.forward = kNone;
        op.first_read = static_cast<std::uint32_t>(fused_.operands.size());
        op.reads = static_cast<std::uint32_t>(reads.size());
        fused_.operands.insert(fused_.operands.end(), reads.begin(), reads.end());
        op.first_write = static_cast<std::uint32_t>(fused_.operands.size());
        op.writes = static_cast<std::uint32_t>(writes.size());
        fused_.operands.insert(fused_.operands.end(), writes.begin(), writes.end());
        fused_.operators.push_back(op);
    }

    // Groups of the same layers with the same tensors outside are one layer.
    std::string key_of(const std::vector<OperatorId>& group, const Outside& out) const {
        std::string key;
        for (std::size_t i = 0; i < group.size(); ++i) {
            key += fmt::format("{}:{} ", graph_.operators[group[i]].layer, out.bytes[i]);
        }
        return key;
    }

    void add(const std::vector<OperatorId>& group) {
        const Operator& last = graph_.operators[group.back()];
        if (group.size() == 1) {
            emit(last, last.layer, last.number, graph_.reads_of(last), graph_.writes_of(last));
            return;
        }
        const Outside out = outside_of(group);
        auto [at, fresh] = known_.try_emplace(key_of(group, out), Known{});
        if (fresh) {
            at->second.layer = new_layer(group, out);
        }
        emit(last, at->second.layer, at->second.runs++, out.reads, out.writes);
    }

    std::uint32_t new_layer(const std::vector<OperatorId>& group, const Outside& out) {
        const auto id = static_cast<std::uint32_t>(fused_.layers.size());
        Layer layer = graph_.layers[graph_.operators[group.back()].layer];
        FusedLayer members;
        layer.name.clear();
        for (std::size_t i = 0; i < group.size(); ++i) {
            const Operator& op = graph_.operators[group[i]];
            const Layer& own = graph_.layers[op.layer];
            layer.name += (i == 0 ? "" : "+") + own.name;
            members.members.push_back({own, share_outside(op, out.bytes[i])});
        }
        for (const TensorId t : out.reads) {
            members.read_bytes += bytes_of(t);
        }
        for (const TensorId t : out.writes) {
            members.written_bytes += bytes_of(t);
        }
        fused_.layers.push_back(std::move(layer));
        fused_.fused.emplace(id, std::move(members));
        return id;
    }

    void renew_producers() {
        for (Tensor& tensor : fused_.tensors) {
            tensor.producer = kNone;
        }
        for (OperatorId i = 0; i < static_cast<OperatorId>(fused_.operators.size()); ++i) {
            for (const TensorId t : fused_.writes_of(fused_.operators[i])) {
                Tensor& tensor = fused_.tensors[t];
                const bool there = graph_.tensors[t].producer == kNone;
                tensor.producer = tensor.producer == kNone && !there ? i : tensor.producer;
            }
        }
    }

    struct Known {
        std::uint32_t layer = 0, runs = 0;
    };
    const Graph& graph_;
    std::vector<std::size_t> readers_;
    std::map<std::string, Known> known_;
    Graph fused_;
};

} // namespace

Graph fuse(const Graph& graph) {
    return Merger(graph).merge(fusible_groups(graph));
}

} // namespace eyeroof::analysis::step
