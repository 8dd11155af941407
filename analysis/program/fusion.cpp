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
    Merger(const Graph& graph, double sms)
        : graph_(graph), sms_(sms), readers_(graph.tensors.size(), 0) {
        fused_ = {graph.id,      graph.name, graph.layers,    graph.fused, {},
                  graph.tensors, {},         graph.optimizer, graph.chain};
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
              std::span<const TensorId> reads, std::span<const TensorId> writes) {
        Operator op = like;
        op.layer = layer;
        op.number = number;
        op.forward = kNone;
        (void)fused_.append(op, reads, writes);
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
        const Layer* alone = &graph_.layers[last.layer];
        if (group.size() == 1 && kernels_of({&alone, 1}, sms_) == 1) {
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

    std::vector<const Layer*> layers_of(const std::vector<OperatorId>& group) const {
        std::vector<const Layer*> layers;
        for (const OperatorId member : group) {
            layers.push_back(&graph_.layers[graph_.operators[member].layer]);
        }
        return layers;
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
        members.kernels = kernels_of(layers_of(group), sms_);
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
    double sms_;
    std::vector<std::size_t> readers_;
    std::map<std::string, Known> known_;
    Graph fused_;
};

// Sums of a layer that run along its rows, and whether they leave something for every element.
struct Sums {
    Count rows = 0, cols = 0;
    Count count = 0;
    bool applied = false; // the layer itself uses them element by element
    bool strided = false; // a row's elements lie apart
};

Sums sums_of(const Layer& layer) {
    if (const auto* r = std::get_if<model::RowsShape>(&layer.shape)) {
        const bool channel = layer.op == model::Op::batchnorm && r->images > 0;
        const Count count = layer.op == model::Op::softmax                ? 2
                            : layer.op == model::Op::layernorm || channel ? 1
                                                                          : 0;
        return {r->rows, r->cols, count, true, channel};
    }
    const auto* pool = std::get_if<model::PoolShape>(&layer.shape);
    if (pool == nullptr || !reduces_whole(layer)) {
        return {};
    }
    return {pool->n * pool->c * pool->q(), pool->h * pool->s, 1, false, false};
}

bool splits(const Sums& sums, double sms) {
    constexpr Count kLongRow = 8192;
    constexpr double kCtas = 2.0; // an SM
    constexpr Count kLongChannel = 32;
    constexpr double kChannels = 64.0; // an SM
    const auto rows = static_cast<double>(sums.rows);
    return sums.count > 0 && (sums.strided ? rows < kChannels * sms && sums.cols > kLongChannel
                                           : rows < kCtas * sms && sums.cols > kLongRow);
}

} // namespace

Count kernels_of(std::span<const Layer* const> group, double sms) {
    Count kernels = 0;
    Count elements = 0; // of the last sums
    bool applied = false;
    for (const Layer* layer : group) {
        const Sums sums = sums_of(*layer);
        if (splits(sums, sms)) {
            kernels += 2 * sums.count;
            elements = sums.rows * sums.cols;
            applied = sums.applied;
        } else if (kernels > 0) {
            applied = applied || model::operands_of(*layer).writes == elements;
        }
    }
    return std::max<Count>(kernels + (applied ? 1 : 0), 1);
}

Graph fuse(const Graph& graph, double sms) {
    return Merger(graph, sms).merge(fusible_groups(graph));
}

} // namespace eyeroof::analysis::step
