#include "analysis/step/chain.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::analysis::step {

namespace {

class Cutter {
  public:
    Cutter(const Graph& graph, const Costs& costs, const Memory& memory, double host_s)
        : graph_(graph), costs_(costs), memory_(memory), host_s_(host_s) {
        while (forward_ < graph.operators.size() &&
               graph.operators[forward_].kind == model::Issued::forward) {
            ++forward_;
        }
        find_reads();
    }

    std::optional<GraphChain> cut() {
        if (forward_ == 0 || forward_ == graph_.operators.size()) {
            return std::nullopt;
        }
        find_cuts();
        if (ends_.size() < 2) {
            return std::nullopt;
        }
        GraphChain result;
        result.chain.stages.resize(ends_.size());
        add_times(result.chain);
        add_tapes(result.chain);
        add_working(result.chain);
        result.fixed = fixed();
        return result;
    }

  private:
    bool inner(TensorId t) const { return graph_.tensors[t].role == Role::activation; }

    void find_reads() {
        const std::size_t n = graph_.tensors.size();
        first_.assign(n, kNone);
        last_forward_.assign(n, 0);
        kept_.assign(n, false);
        for (OperatorId i = 0; i < static_cast<OperatorId>(graph_.operators.size()); ++i) {
            const Operator& op = graph_.operators[i];
            for (const TensorId t : graph_.writes_of(op)) {
                first_[t] = std::min(first_[t], i);
                last_forward_[t] = i < forward_ ? i : last_forward_[t];
            }
            for (const TensorId t : graph_.reads_of(op)) {
                last_forward_[t] = i < forward_ ? i : last_forward_[t];
                kept_[t] = kept_[t] || i >= forward_;
            }
        }
    }

    // After which operators a single tensor crosses; the last operator ends the last stage.
    void find_cuts() {
        std::vector<int> crossing(forward_ + 1, 0);
        std::vector<std::int64_t> sum(forward_ + 1, 0); // of tensor ids: the one where one crosses
        for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
            if (inner(t) && first_[t] < forward_ && last_forward_[t] > first_[t]) {
                crossing[first_[t]] += 1;
                sum[first_[t]] += t;
                crossing[last_forward_[t]] -= 1;
                sum[last_forward_[t]] -= t;
            }
        }
        std::vector<std::pair<std::size_t, TensorId>> all;
        int now = 0;
        std::int64_t ids = 0;
        for (std::size_t i = 0; i + 1 < forward_; ++i) {
            now += crossing[i];
            ids += sum[i];
            if (now == 1) {
                all.emplace_back(i, static_cast<TensorId>(ids));
            }
        }
        const std::size_t step = all.size() / (kMostStages - 1) + 1;
        for (std::size_t i = step - 1; i < all.size(); i += step) {
            ends_.push_back(all[i].first);
            outputs_.push_back(all[i].second);
        }
        ends_.push_back(forward_ - 1);
        outputs_.push_back(kNone);
    }

    std::size_t stage_of(std::size_t op) const {
        return static_cast<std::size_t>(std::lower_bound(ends_.begin(), ends_.end(), op) -
                                        ends_.begin());
    }

    // Stage of every operator; sums of gradients belong to the gradient before them.
    std::vector<std::size_t> stages() const {
        std::vector<std::size_t> of(graph_.operators.size(), ends_.size() - 1);
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Operator& op = graph_.operators[i];
            if (i < forward_) {
                of[i] = stage_of(i);
            } else if (op.forward != kNone) {
                of[i] = stage_of(op.forward);
            } else {
                of[i] = of[i - 1];
            }
        }
        return of;
    }

    void add_times(Chain& chain) const {
        const auto of = stages();
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Operator& op = graph_.operators[i];
            const double seconds = std::max(costs_.layers[op.layer].device_s, host_s_);
            if (op.kind == model::Issued::forward) {
                chain.stages[of[i]].forward_s += seconds;
            } else if (op.kind == model::Issued::gradient) {
                chain.stages[of[i]].backward_s += seconds;
            }
        }
    }

    void add_tapes(Chain& chain) const {
        for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
            if (inner(t) && first_[t] < forward_ && (kept_[t] || graph_.tensors[t].output)) {
                chain.stages[stage_of(first_[t])].tape += graph_.tensors[t].bytes;
            }
        }
        for (std::size_t s = 0; s < chain.stages.size(); ++s) {
            const TensorId out = outputs_[s];
            Stage& stage = chain.stages[s];
            stage.output = out == kNone ? 0 : graph_.tensors[out].bytes;
            stage.gradient = stage.output;
            stage.tape += out != kNone && !kept_[out] ? graph_.tensors[out].bytes : 0;
        }
    }

    // What lives for a moment: forward, tensors that no one keeps; backward, gradients inside of
    // the stage.
    void add_working(Chain& chain) const {
        std::vector<Count> moment(forward_ + 1, 0);
        for (TensorId t = 0; t < static_cast<TensorId>(graph_.tensors.size()); ++t) {
            const bool output = std::find(outputs_.begin(), outputs_.end(), t) != outputs_.end();
            if (inner(t) && first_[t] < forward_ && !kept_[t] && !output) {
                moment[first_[t]] += graph_.tensors[t].bytes;
                moment[std::min<std::size_t>(last_forward_[t] + 1, forward_)] -=
                    graph_.tensors[t].bytes;
            }
        }
        const auto of = stages();
        Count now = 0;
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const std::size_t s = of[i];
            Stage& stage = chain.stages[s];
            if (i < forward_) {
                now += moment[i];
                stage.working = std::max(stage.working, now);
                continue;
            }
            const Count below = s == 0 ? 0 : chain.stages[s - 1].gradient;
            const Count gradients = memory_.at[i][static_cast<std::size_t>(Role::gradient)];
            stage.working = std::max(stage.working, gradients - stage.gradient - below);
        }
    }

    Count fixed() const {
        Count bytes = memory_.resident;
        Count workspace = 0;
        for (const Tensor& tensor : graph_.tensors) {
            const bool counts = tensor.role == Role::weight_gradient || tensor.role == Role::input;
            bytes += counts ? tensor.bytes : 0;
        }
        for (const Bytes& at : memory_.at) {
            workspace = std::max(workspace, at[kWorkspace]);
        }
        return bytes + workspace;
    }

    const Graph& graph_;
    const Costs& costs_;
    const Memory& memory_;
    double host_s_;
    std::size_t forward_ = 0; // operators of the forward half
    std::vector<OperatorId> first_, last_forward_;
    std::vector<bool> kept_;
    std::vector<std::size_t> ends_; // last operator of each stage
    std::vector<TensorId> outputs_; // that it hands on
};

} // namespace

std::optional<GraphChain> chain_of(const Graph& graph, const Costs& costs, const Memory& memory,
                                   double host_s) {
    return Cutter(graph, costs, memory, host_s).cut();
}

} // namespace eyeroof::analysis::step
