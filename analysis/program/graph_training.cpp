// Gradients and updates behind the forward operators of a graph.
#include "analysis/program/footprint.hpp"
#include "analysis/program/gradients.hpp"
#include "analysis/program/graph_parts.hpp"
#include "model/workload/elementwise.hpp"
#include "model/workload/operands.hpp"
#include "model/workload/operators.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace eyeroof::analysis::step {

using model::Issued;
using model::Layer;
using model::Op;

namespace {

// The gradient of these functions is made of what they wrote, not of what they read.
constexpr std::array<std::string_view, 8> kFromOutput = {"relu", "sigmoid", "tanh",       "exp",
                                                         "sqrt", "rsqrt",   "reciprocal", "relu6"};

const model::ElementwiseFunction* function_of(const Layer& layer) {
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    return e != nullptr ? model::find_elementwise(e->fn) : nullptr;
}

// Sums hand the gradient of their output on as it is.
bool hands_on(const Layer& layer) {
    const auto* f = function_of(layer);
    return f != nullptr &&
           (f->name == "add" || f->name == "add3" || f->name == "addu" || f->name == "subu");
}

// Layers whose learned values have a gradient of their own; others have it beside the input's.
bool has_weight_gradient(const Layer& layer) {
    return layer.op == Op::gemm || layer.op == Op::conv2d || layer.op == Op::embedding ||
           layer.op == Op::bmm;
}

class Backward {
  public:
    Backward(Builder& builder, const std::vector<ForwardRun>& runs, const TrainingOptions& options,
             Regime states)
        : builder_(builder), graph_(builder.graph()), runs_(runs), options_(options),
          states_(states), learns_(graph_.tensors.size(), false),
          gradient_(graph_.tensors.size(), kNone) {}

    void derive() {
        mark_learning();
        for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
            differentiate(*run);
        }
        add_updates();
    }

  private:
    // Tensors above something that learns need a gradient.
    void mark_learning() {
        for (const ForwardRun& run : runs_) {
            const Operator& op = graph_.operators[run.op];
            bool learns = run.weight != kNone;
            for (const TensorId t : graph_.reads_of(op)) {
                learns = learns || learns_[t];
            }
            learns_[graph_.operands[op.first_write]] = learns;
        }
    }

    Layer layer_of(const Operator& op) const { return graph_.layers[op.layer]; }

    TensorId new_gradient(TensorId of) {
        const Tensor t = graph_.tensors[of];
        return builder_.tensor(Role::gradient, t.bytes, t.layer, t.number);
    }

    // A second gradient of the same tensor is added to the first.
    void contribute(TensorId to, TensorId gradient) {
        if (gradient_[to] == kNone) {
            gradient_[to] = gradient;
            return;
        }
        const TensorId sum = new_gradient(to);
        const Tensor& t = graph_.tensors[to];
        add_sum(t.layer, t.bytes, {gradient_[to], gradient}, {sum});
        gradient_[to] = sum;
    }

    void add_sum(std::uint32_t of_layer, Count bytes, const std::vector<TensorId>& reads,
                 const std::vector<TensorId>& writes) {
        Layer sum;
        const std::string name = of_layer == kNone ? "input" : graph_.layers[of_layer].name;
        sum.name = name + ".gradient_sum";
        sum.op = Op::elementwise;
        sum.types = of_layer == kNone ? model::TensorTypes{} : graph_.layers[of_layer].types;
        const Count elements = std::max<Count>(elements_in(bytes, sum.types.input), 1);
        const Count rows = elements / model::kMaxDimension + 1;
        sum.shape = model::ElementwiseShape{rows, elements / rows, "add"};
        sum.count = of_layer == kNone ? 1 : graph_.layers[of_layer].count;
        const std::uint32_t id = builder_.layer(sum);
        builder_.add(id, builder_.next_number(id), Issued::gradient, kNone, reads, writes);
    }

    void differentiate(const ForwardRun& run) {
        const Operator op = graph_.operators[run.op];
        const Layer layer = layer_of(op);
        const TensorId out = graph_.operands[op.first_write];
        if (!learns_[out]) {
            return;
        }
        if (gradient_[out] == kNone) {
            // A chain does not say what reads a result that its next operator has no gradient for
            // (a look-up, a fill): a later operator does.
            if (!graph_.tensors[out].output && !graph_.chain) {
                return; // nothing differentiable reads it
            }
            gradient_[out] = new_gradient(out); // the loss's
        }
        const TensorId given = gradient_[out];
        gradient_[out] = kNone;
        const auto reads = graph_.reads_of(op).first(run.inputs);
        const std::vector<TensorId> inputs(reads.begin(), reads.end());
        if (hands_on(layer)) {
            if (run.weight != kNone) {
                (void)weight_gradient(run.weight); // learned positions
            }
            for (const TensorId in : inputs) {
                if (learns_[in]) {
                    contribute(in, given);
                }
            }
            return;
        }
        const bool data =
            std::any_of(inputs.begin(), inputs.end(), [&](TensorId t) { return learns_[t]; }) ||
            (run.weight != kNone && !has_weight_gradient(layer));
        for (const Layer& made : gradients_of(layer, options_, data)) {
            add_gradient(run, op, layer, made, given, inputs);
        }
        if (run.weight != kNone) { // also of what has no operator for it: a fill
            (void)weight_gradient(run.weight);
        }
    }

    void add_gradient(const ForwardRun& run, const Operator& op, const Layer& layer,
                      const Layer& made, TensorId given, const std::vector<TensorId>& inputs) {
        std::vector<TensorId> reads, writes;
        std::vector<TensorId> to; // whose gradients are written
        const bool of_weight = made.name.ends_with(".bwd_weight");
        if (made.name.ends_with(".clear")) {
            if (run.weight == kNone) {
                return; // the table is counted with another layer, and cleared with it
            }
            writes.push_back(weight_gradient(run.weight));
        } else if (of_weight && (layer.op != Op::bmm || run.weight != kNone)) {
            reads = {given};
            if (!inputs.empty()) {
                reads.push_back(inputs.front());
            }
            weight_writes(run, writes);
        } else if (layer.op == Op::bmm) {
            if (inputs.empty()) {
                return;
            }
            const TensorId first = inputs.front();
            const TensorId second = inputs.size() > 1 ? inputs[1] : run.weight;
            reads = {given, of_weight || second == kNone ? first : second};
            if (of_weight && graph_.chain) { // it says nothing of who makes the second operand
                writes.push_back(second_gradient(op, layer));
            } else {
                to = {of_weight && inputs.size() > 1 ? inputs[1] : first};
            }
        } else {
            reads = saved_of(run, layer, inputs);
            reads.insert(reads.begin(), given);
            to = inputs;
            if (run.weight != kNone && !has_weight_gradient(layer)) {
                writes.push_back(weight_gradient(run.weight));
            }
        }
        std::vector<std::pair<TensorId, TensorId>> contributions;
        for (const TensorId t : to) {
            if (learns_[t]) {
                contributions.emplace_back(t, new_gradient(t));
                writes.push_back(contributions.back().second);
            }
        }
        if (writes.empty()) {
            return;
        }
        const std::uint32_t id = builder_.layer(made);
        builder_.add(id, op.number, Issued::gradient, run.op, reads, writes);
        for (const auto& [tensor, gradient] : contributions) {
            contribute(tensor, gradient);
        }
        sum_shared(run);
    }

    // Of a batched product's second operand, which no operator of the program makes.
    TensorId second_gradient(const Operator& op, const Layer& layer) {
        const Count elements = model::operands_of(layer).reads.back();
        return builder_.tensor(Role::gradient, bytes_of(elements, layer.types.input), op.layer,
                               op.number);
    }

    // What the gradient of the input reads beside the output's gradient.
    std::vector<TensorId> saved_of(const ForwardRun& run, const Layer& layer,
                                   const std::vector<TensorId>& inputs) const {
        const TensorId out = graph_.operands[graph_.operators[run.op].first_write];
        std::vector<TensorId> saved;
        if (const auto* f = function_of(layer)) {
            const bool from_output =
                std::find(kFromOutput.begin(), kFromOutput.end(), f->name) != kFromOutput.end();
            if (f->saved > 0 && from_output) {
                saved.push_back(out);
            } else {
                const auto n = std::min(inputs.size(), static_cast<std::size_t>(f->saved));
                saved.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(n));
            }
        } else if (model::traits_of(layer.op).keeps_output) {
            saved.push_back(out);
        } else if (layer.op == Op::attention) {
            saved = inputs;
            saved.push_back(out);
        } else if (layer.op == Op::layernorm || layer.op == Op::batchnorm || layer.op == Op::moe) {
            saved = inputs;
        }
        const bool reads_weight = layer.op == Op::gemm || layer.op == Op::conv2d ||
                                  layer.op == Op::layernorm || layer.op == Op::batchnorm ||
                                  layer.op == Op::moe;
        if (reads_weight && run.weight != kNone) {
            saved.push_back(run.weight);
        }
        if (run.beside != kNone) {
            saved.push_back(run.beside);
        }
        return saved;
    }

    Precision precision_of(TensorId weight) const {
        const Layer& layer = graph_.layers[graph_.tensors[weight].layer];
        return step::precision_of(states_, layer.types.weight, options_.optimizer);
    }

    Count elements_of(TensorId weight) const {
        const Tensor& t = graph_.tensors[weight];
        return elements_in(t.bytes, graph_.layers[t.layer].types.weight);
    }

    TensorId weight_gradient(TensorId weight) {
        auto& known = weight_gradients_[weight];
        if (known == 0) {
            const auto bytes =
                static_cast<double>(elements_of(weight)) * precision_of(weight).gradient;
            const Tensor t = graph_.tensors[weight];
            known = 1 + builder_.tensor(Role::weight_gradient, static_cast<Count>(bytes), t.layer,
                                        t.number);
        }
        return known - 1;
    }

    // A shared weight's second gradient goes to a tensor of its own and is added.
    void weight_writes(const ForwardRun& run, std::vector<TensorId>& writes) {
        if (run.weight == kNone) {
            return;
        }
        if (run.bias != kNone) {
            writes.push_back(weight_gradient(run.bias));
        }
        const auto [touched, first] = touched_.try_emplace(run.weight, run.op);
        if (first || touched->second == run.op) {
            writes.push_back(weight_gradient(run.weight));
            return;
        }
        const Tensor whole = graph_.tensors[weight_gradient(run.weight)];
        pending_ = builder_.tensor(Role::gradient, whole.bytes, whole.layer, whole.number);
        writes.push_back(pending_);
    }

    void sum_shared(const ForwardRun& run) {
        if (pending_ == kNone) {
            return;
        }
        const TensorId whole = weight_gradient(run.weight);
        const Tensor t = graph_.tensors[whole];
        add_sum(t.layer, t.bytes, {whole, pending_}, {whole});
        pending_ = kNone;
    }

    TensorId optimizer_of(TensorId weight) {
        const auto bytes =
            static_cast<double>(elements_of(weight)) * precision_of(weight).optimizer;
        const Tensor t = graph_.tensors[weight];
        return builder_.tensor(Role::optimizer, static_cast<Count>(bytes), t.layer, t.number);
    }

    void add_update(const Layer& update, const std::vector<TensorId>& weights) {
        std::vector<TensorId> reads, writes;
        for (const TensorId w : weights) {
            reads.push_back(w);
            reads.push_back(weight_gradient(w));
            const TensorId state = optimizer_of(w);
            if (graph_.tensors[state].bytes > 0) {
                reads.push_back(state);
                writes.push_back(state);
            }
            writes.push_back(w);
        }
        const std::uint32_t id = builder_.layer(update);
        // They were there before: who writes them is not who makes them.
        const OperatorId op =
            builder_.add(id, builder_.next_number(id), Issued::update, kNone, reads, writes);
        for (const TensorId t : writes) {
            if (graph_.tensors[t].producer == op) {
                graph_.tensors[t].producer = kNone;
            }
        }
    }

    void add_updates() {
        std::vector<TensorId> few;
        std::optional<Layer> shared;
        Count elements = 0;
        for (TensorId w = 0; w < static_cast<TensorId>(learns_.size()); ++w) {
            if (graph_.tensors[w].role != Role::weight || !weight_gradients_.contains(w)) {
                continue;
            }
            const auto update =
                update_of(graph_.layers[graph_.tensors[w].layer], options_, states_);
            if (!update) {
                continue;
            }
            if (update->alone) {
                add_update(update->layer, {w});
                continue;
            }
            shared = shared ? shared : update->layer;
            elements += elements_of(w);
            few.push_back(w);
        }
        if (shared) {
            shared->name = "norms.update";
            shared->count = 1;
            const Count rows = elements / model::kMaxDimension + 1;
            shared->shape = model::ElementwiseShape{rows, elements / rows, options_.optimizer};
            add_update(*shared, few);
        }
    }

    Builder& builder_;
    Graph& graph_;
    const std::vector<ForwardRun>& runs_;
    const TrainingOptions& options_;
    Regime states_;
    std::vector<bool> learns_;
    std::vector<TensorId> gradient_; // of each forward tensor, as far as it is summed
    std::unordered_map<TensorId, TensorId> weight_gradients_; // one more than the tensor
    std::unordered_map<TensorId, OperatorId> touched_; // weights by who wrote their gradient first
    TensorId pending_ = kNone;
};

} // namespace

void add_training(Builder& builder, const std::vector<ForwardRun>& runs,
                  const TrainingOptions& options, Regime states) {
    Backward(builder, runs, options, states).derive();
}

} // namespace eyeroof::analysis::step
