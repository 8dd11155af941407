// A training step as a pipeline: units of forward operators with all that belongs to them.
#include "analysis/scale/heterogeneous_training.hpp"

#include <algorithm>
#include <limits>
#include <set>

namespace eyeroof::analysis {

using step::TensorId;

namespace {

constexpr std::size_t kNoUnit = std::numeric_limits<std::size_t>::max();

// Gradients belong to what they differentiate, sums to the gradient before them, updates to the
// first reader of their weight.
void find_units(const step::Graph& graph, const std::vector<StepTask>& tasks, StepUnits& units) {
    std::vector<std::size_t> of_op(graph.operators.size(), 0);
    std::vector<std::size_t> of_weight(graph.tensors.size(), kNoUnit);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        const step::OperatorId id = tasks[t].op;
        const step::Operator& op = graph.operators[id];
        std::size_t unit = units.unit.empty() ? 0 : units.unit.back();
        if (op.kind == model::Issued::forward) {
            unit = units.first.size();
            units.first.push_back(id);
        } else if (op.kind == model::Issued::update) {
            const auto weight = std::find_if(tasks[t].reads.begin(), tasks[t].reads.end(),
                                             [&](TensorId r) { return of_weight[r] != kNoUnit; });
            unit = weight != tasks[t].reads.end() ? of_weight[*weight] : unit;
        } else if (op.forward != step::kNone) {
            unit = of_op[op.forward];
        }
        of_op[id] = unit;
        units.unit.push_back(unit);
        for (const TensorId r : tasks[t].reads) {
            if (graph.tensors[r].role == step::Role::weight) {
                of_weight[r] = std::min(of_weight[r], unit);
            }
        }
    }
}

double& part_of(StageTimes& times, model::Issued kind) {
    return kind == model::Issued::forward  ? times.forward_s
           : kind == model::Issued::update ? times.update_s
                                           : times.backward_s;
}

// Units between which a tensor goes: from who makes it to the furthest on either side.
struct Span {
    std::size_t maker = kNoUnit, low = kNoUnit, high = 0;
    bool in_forward = false, saved = false; // read by a gradient

    bool operator==(const Span&) const = default;
};

std::vector<Span> spans_of(const step::Graph& graph, const std::vector<StepTask>& tasks,
                           const StepUnits& units) {
    std::vector<Span> spans(graph.tensors.size());
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        const model::Issued kind = graph.operators[tasks[t].op].kind;
        for (const TensorId id : tasks[t].writes) {
            if (spans[id].maker == kNoUnit) {
                spans[id].maker = units.unit[t];
                spans[id].in_forward = kind == model::Issued::forward;
            }
        }
        for (const TensorId id : tasks[t].reads) {
            spans[id].low = std::min(spans[id].low, units.unit[t]);
            spans[id].high = std::max(spans[id].high, units.unit[t]);
            spans[id].saved = spans[id].saved || kind == model::Issued::gradient;
        }
    }
    return spans;
}

// For gradients, beside what stays.
bool is_kept(const step::Tensor& tensor, const Span& span) {
    return span.saved &&
           (tensor.role == step::Role::activation || tensor.role == step::Role::input);
}

void add_bytes(const step::Graph& graph, const std::vector<StepTask>& tasks,
               const std::vector<Span>& spans, StepUnits& units) {
    const std::size_t n = units.first.size();
    std::vector<std::set<TensorId>> touched(n);
    for (std::size_t t = 0; t < tasks.size(); ++t) {
        touched[units.unit[t]].insert(tasks[t].reads.begin(), tasks[t].reads.end());
        touched[units.unit[t]].insert(tasks[t].writes.begin(), tasks[t].writes.end());
    }
    units.resident.assign(n, 0.0);
    units.kept.assign(n, 0.0);
    for (std::size_t u = 0; u < n; ++u) {
        for (const TensorId id : touched[u]) {
            const step::Tensor& tensor = graph.tensors[id];
            const bool stays =
                tensor.role == step::Role::weight || tensor.role == step::Role::optimizer ||
                tensor.role == step::Role::state || tensor.role == step::Role::weight_gradient;
            units.resident[u] += stays ? static_cast<double>(tensor.bytes) : 0.0;
            const bool made_here =
                spans[id].maker == u || (spans[id].maker == kNoUnit && spans[id].low == u);
            units.kept[u] +=
                made_here && is_kept(tensor, spans[id]) ? static_cast<double>(tensor.bytes) : 0.0;
        }
    }
}

void add_cuts(const step::Graph& graph, const std::vector<Span>& spans, StepUnits& units) {
    const std::size_t n = units.first.size();
    units.activation_cut.assign(n > 0 ? n - 1 : 0, 0.0);
    units.gradient_cut = units.update_cut = units.saved_cut = units.activation_cut;
    for (std::size_t id = 0; id < spans.size(); ++id) {
        const Span& s = spans[id];
        const step::Tensor& tensor = graph.tensors[id];
        const bool of_weight =
            tensor.role == step::Role::weight || tensor.role == step::Role::weight_gradient;
        if (s.low == kNoUnit || (s.maker == kNoUnit && !of_weight)) {
            continue;
        }
        const std::size_t low = s.maker == kNoUnit ? s.low : std::min(s.low, s.maker);
        const std::size_t high = s.maker == kNoUnit ? s.high : std::max(s.high, s.maker);
        std::vector<double>& cuts = of_weight      ? units.update_cut
                                    : s.in_forward ? units.activation_cut
                                                   : units.gradient_cut;
        for (std::size_t c = low; c < high; ++c) {
            cuts[c] += static_cast<double>(tensor.bytes);
            units.saved_cut[c] += is_kept(tensor, s) ? static_cast<double>(tensor.bytes) : 0.0;
        }
    }
}

// The stages' own times, receiving included.
std::vector<StageTimes> times_of(const std::vector<HeterogeneousStage>& stages,
                                 const StepUnits& units, const SecondsOf& link_seconds) {
    std::vector<StageTimes> all;
    for (const HeterogeneousStage& stage : stages) {
        StageTimes times;
        for (std::size_t u = stage.first; u < stage.end; ++u) {
            const StageTimes& own = units.times[stage.device][u];
            times.forward_s += own.forward_s;
            times.backward_s += own.backward_s;
            times.update_s += own.update_s;
        }
        if (stage.first > 0) {
            times.forward_s += link_seconds(units.activation_cut[stage.first - 1]);
            times.backward_s += link_seconds(units.gradient_cut[stage.first - 1]);
            const double shared = units.update_cut[stage.first - 1];
            times.update_s += shared > 0.0 ? link_seconds(shared) : 0.0;
        }
        all.push_back(times);
    }
    return all;
}

// The chain of some of the devices; `names`: which.
HeterogeneousChain chosen(const HeterogeneousChain& chain, unsigned set,
                          std::vector<std::size_t>& names) {
    HeterogeneousChain part;
    part.cut_s = chain.cut_s;
    part.held_bytes = chain.held_bytes;
    part.entry_bytes = chain.entry_bytes;
    for (std::size_t d = 0; d < chain.layer_s.size(); ++d) {
        if ((set >> d & 1U) != 0) {
            names.push_back(d);
            part.layer_s.push_back(chain.layer_s[d]);
            part.live_bytes.push_back(chain.live_bytes[d]);
            part.capacity_bytes.push_back(chain.capacity_bytes[d]);
        }
    }
    return part;
}

} // namespace

StepUnits units_of_step(const step::Graph& graph, const std::vector<StepTask>& tasks,
                        const std::vector<std::vector<double>>& op_s) {
    StepUnits units;
    find_units(graph, tasks, units);
    for (const std::vector<double>& of_device : op_s) {
        std::vector<StageTimes>& times = units.times.emplace_back(units.first.size());
        for (std::size_t t = 0; t < tasks.size(); ++t) {
            const step::OperatorId op = tasks[t].op;
            part_of(times[units.unit[t]], graph.operators[op].kind) +=
                of_device[op] * tasks[t].share;
        }
    }
    const std::vector<Span> spans = spans_of(graph, tasks, units);
    add_bytes(graph, tasks, spans, units);
    add_cuts(graph, spans, units);
    return units;
}

double one_forward_one_backward(const std::vector<StageTimes>& stages, std::size_t microbatches) {
    const std::size_t p = stages.size();
    std::vector<std::vector<double>> forward(p), backward(p); // ends, in order
    std::vector<double> free(p, 0.0);
    const auto next = [&](std::size_t i) { // whether stage i could do something
        const std::size_t ahead = std::min(microbatches, p - i);
        const bool forwards =
            forward[i].size() < microbatches && forward[i].size() < backward[i].size() + ahead;
        const std::size_t m = forwards ? forward[i].size() : backward[i].size();
        if (m == microbatches) {
            return false;
        }
        const std::vector<double>* from = forwards ? (i > 0 ? &forward[i - 1] : nullptr)
                                                   : (i + 1 < p ? &backward[i + 1] : &forward[i]);
        if (from != nullptr && from->size() <= m) {
            return false;
        }
        const double ready = from != nullptr ? (*from)[m] : 0.0;
        free[i] =
            std::max(free[i], ready) + (forwards ? stages[i].forward_s : stages[i].backward_s);
        (forwards ? forward : backward)[i].push_back(free[i]);
        return true;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t i = 0; i < p; ++i) {
            while (next(i)) {
                moved = true;
            }
        }
    }
    double end = 0.0;
    for (std::size_t i = 0; i < p; ++i) {
        end = std::max(end, free[i] + stages[i].update_s);
    }
    return end;
}

StepPipeline best_pipeline(const HeterogeneousChain& chain, const StepUnits& units,
                           std::size_t microbatches, const SecondsOf& link_seconds) {
    StepPipeline best;
    const unsigned all = (1U << chain.layer_s.size()) - 1U;
    for (unsigned set = all; set > 0; --set) {
        std::vector<std::size_t> names;
        std::vector<HeterogeneousStage> stages = split_heterogeneous(chosen(chain, set, names));
        if (set == all) {
            best.bound_s = slowest_of(stages);
        }
        for (HeterogeneousStage& stage : stages) {
            stage.device = names[stage.device];
        }
        const double step_s =
            one_forward_one_backward(times_of(stages, units, link_seconds), microbatches);
        if (!stages.empty() && (best.stages.empty() || step_s < best.step_s)) {
            best.stages = std::move(stages);
            best.step_s = step_s;
        }
    }
    return best;
}

} // namespace eyeroof::analysis
