#include "analysis/step/recompute_graph.hpp"

#include <algorithm>
#include <unordered_map>

namespace eyeroof::analysis::step {

using model::Issued;

namespace {

struct Candidate {
    OperatorId op = kNone;
    double seconds = 0.0;
    Count bytes = 0; // that its outputs keep
};

class Finder {
  public:
    Finder(const Graph& graph, const Costs& costs, double host_s)
        : graph_(graph), costs_(costs), host_s_(host_s), writers_(graph.tensors.size(), 0),
          kept_(graph.tensors.size(), false) {
        while (forward_ < graph.operators.size() &&
               graph.operators[forward_].kind == Issued::forward) {
            ++forward_;
        }
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph.operators.size()); ++i) {
            for (const TensorId t : graph.writes_of(graph.operators[i])) {
                ++writers_[t];
            }
            for (const TensorId t : graph.reads_of(graph.operators[i])) {
                kept_[t] = kept_[t] || i >= forward_;
            }
        }
    }

    OperatorId forward() const { return forward_; }
    double seconds(const Operator& op) const {
        return std::max(costs_.layers[op.layer].device_s, host_s_);
    }

    // Cheapest a byte first.
    std::vector<Candidate> candidates() const {
        std::vector<Candidate> found;
        for (OperatorId i = 0; i < forward_; ++i) {
            if (const Count bytes = kept_bytes(graph_.operators[i]); bytes > 0) {
                found.push_back({i, seconds(graph_.operators[i]), bytes});
            }
        }
        std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
            return a.seconds * static_cast<double>(b.bytes) <
                   b.seconds * static_cast<double>(a.bytes);
        });
        return found;
    }

  private:
    // 0 where it cannot run again: it writes the step's output, or over something.
    Count kept_bytes(const Operator& op) const {
        Count bytes = 0;
        for (const TensorId t : graph_.writes_of(op)) {
            const Tensor& tensor = graph_.tensors[t];
            if (tensor.role != Role::activation || tensor.output || writers_[t] != 1) {
                return 0;
            }
            bytes += kept_[t] ? tensor.bytes : 0;
        }
        return bytes;
    }

    const Graph& graph_;
    const Costs& costs_;
    double host_s_;
    OperatorId forward_ = 0;
    std::vector<int> writers_;
    std::vector<bool> kept_;
};

// The graph with some forward operators run again before their first gradient.
class Rewriter {
  public:
    Rewriter(const Graph& graph, const std::vector<bool>& dropped, OperatorId forward)
        : graph_(graph), dropped_(dropped) {
        made_.id = graph.id;
        made_.name = graph.name;
        made_.layers = graph.layers;
        made_.tensors = graph.tensors;
        made_.chain = graph.chain;
        for (Tensor& tensor : made_.tensors) {
            tensor.producer = kNone; // until its first writer is placed
        }
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph.operators.size()); ++i) {
            const Operator& op = graph.operators[i];
            if (i >= forward) {
                bring_back(op);
            }
            place(op, i >= forward, false);
        }
    }
    Graph take() { return std::move(made_); }
    const std::vector<OperatorId>& again() const { return again_; }

  private:
    OperatorId dropped_producer(TensorId t) const {
        const OperatorId producer = graph_.tensors[t].producer;
        return producer != kNone && dropped_[producer] ? producer : kNone;
    }

    // Everything that the operator reads and that was dropped, and what that needs, in order.
    void bring_back(const Operator& op) {
        std::vector<std::pair<OperatorId, bool>> waiting; // the flag: what it needs is there
        const auto ask = [&](const Operator& of) {
            for (const TensorId t : graph_.reads_of(of)) {
                const OperatorId producer = dropped_producer(t);
                if (producer != kNone && new_.count(t) == 0) {
                    waiting.emplace_back(producer, false);
                }
            }
        };
        ask(op);
        while (!waiting.empty()) {
            const auto [id, ready] = waiting.back();
            const Operator& producer = graph_.operators[id];
            if (new_.count(graph_.operands[producer.first_write]) > 0) {
                waiting.pop_back();
            } else if (ready) {
                waiting.pop_back();
                place(producer, true, true);
                again_.push_back(id);
            } else {
                waiting.back().second = true;
                ask(producer);
            }
        }
    }

    void place(const Operator& op, bool late, bool again) {
        Operator copy = op;
        const auto id = static_cast<OperatorId>(made_.operators.size());
        copy.first_read = static_cast<std::uint32_t>(made_.operands.size());
        for (const TensorId t : graph_.reads_of(op)) {
            const auto found = late ? new_.find(t) : new_.end();
            made_.operands.push_back(found == new_.end() ? t : found->second);
        }
        copy.first_write = static_cast<std::uint32_t>(made_.operands.size());
        for (const TensorId t : graph_.writes_of(op)) {
            TensorId target = t;
            if (again) {
                target = static_cast<TensorId>(made_.tensors.size());
                made_.tensors.push_back(graph_.tensors[t]);
                made_.tensors.back().producer = kNone;
                new_[t] = target;
            }
            OperatorId& producer = made_.tensors[target].producer;
            producer = producer == kNone ? id : producer;
            made_.operands.push_back(target);
        }
        made_.operators.push_back(copy);
    }

    const Graph& graph_;
    const std::vector<bool>& dropped_;
    Graph made_;
    std::unordered_map<TensorId, TensorId> new_; // of what was dropped
    std::vector<OperatorId> again_;
};

Count floor_of(const Graph& graph, Count resident) {
    Count most = 0;
    for (const Operator& op : graph.operators) {
        const auto reads = graph.reads_of(op), writes = graph.writes_of(op);
        std::vector<TensorId> operands(reads.begin(), reads.end());
        operands.insert(operands.end(), writes.begin(), writes.end());
        std::sort(operands.begin(), operands.end());
        operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
        Count bytes = 0;
        for (const TensorId t : operands) {
            const Role role = graph.tensors[t].role;
            const bool there =
                role == Role::weight || role == Role::optimizer || role == Role::state;
            bytes += there ? 0 : graph.tensors[t].bytes;
        }
        most = std::max(most, bytes);
    }
    return resident + most;
}

} // namespace

std::optional<GraphRecomputation> recompute_cheapest(const Graph& graph, const Costs& costs,
                                                     const std::vector<Count>& workspaces,
                                                     Count target, double host_s) {
    constexpr std::size_t kTries = 24;
    const Finder finder(graph, costs, host_s);
    const std::vector<Candidate> order = finder.candidates();
    if (order.empty() || finder.forward() == graph.operators.size()) {
        return std::nullopt;
    }
    const Count floor = floor_of(graph, memory_of(graph).resident);
    std::optional<GraphRecomputation> best;
    std::vector<bool> dropped(graph.operators.size(), false);
    std::size_t taken = 0;
    for (std::size_t round = 1; round <= kTries; ++round) {
        const std::size_t until = std::max(order.size() * round / kTries, taken);
        for (; taken < until; ++taken) {
            dropped[order[taken].op] = true;
        }
        Rewriter rewriter(graph, dropped, finder.forward());
        GraphRecomputation tried;
        for (const OperatorId id : rewriter.again()) {
            tried.added_s += finder.seconds(graph.operators[id]);
        }
        tried.again = rewriter.again().size();
        tried.graph = rewriter.take();
        tried.peak = memory_of(tried.graph, workspaces).peak;
        tried.floor = floor;
        if (!best || tried.peak < best->peak) {
            best = std::move(tried);
        }
        if (best->peak <= target) {
            break;
        }
    }
    return best;
}

} // namespace eyeroof::analysis::step
