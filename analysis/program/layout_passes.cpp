#include "analysis/program/layout_passes.hpp"

#include "analysis/program/graph_parts.hpp"
#include "model/gpu/predict.hpp"
#include "model/workload/elementwise.hpp"

#include <algorithm>

namespace eyeroof::analysis::step {

using model::Layer;

namespace {

bool needs_passes(const Layer& layer, const model::Gpu& gpu, const SoftwareOf& software) {
    const auto work =
        layer.op == model::Op::conv2d ? model::work_of(layer) : Result<model::Work>(model::Work{});
    if (layer.op != model::Op::conv2d || !work) {
        return false;
    }
    const auto kernel = model::kernel_of(gpu, layer, *work, software(layer));
    return kernel && kernel->conv && kernel->conv->passes;
}

bool is_filter(const Tensor& tensor) {
    return tensor.role == Role::weight || tensor.role == Role::weight_gradient;
}

// Of a convolution's tensor: its output's where it is as large, else its input's.
Count channels_of(const Layer& conv, const Tensor& tensor) {
    const auto& shape = std::get<model::ConvShape>(conv.shape);
    const Count elements = elements_in(tensor.bytes, conv.types.input);
    return is_filter(tensor)                                       ? shape.c / shape.groups
           : elements == shape.n * shape.k * shape.p() * shape.q() ? shape.k
                                                                   : shape.c;
}

// A pass over a tensor of so many elements: positions (rows) by channels (columns).
Layer pass_of(const Layer& conv, Count elements, Count channels, const std::string& function) {
    Layer pass;
    pass.name = conv.name + "." + function;
    pass.op = model::Op::elementwise;
    pass.shape = model::layout_pass(elements, channels, function);
    pass.types = conv.types;
    pass.count = conv.count;
    pass.parameters = 0;
    return pass;
}

// Copies a program operator by operator, with passes around the marked layers.
class Inserter {
  public:
    Inserter(const Graph& graph, const std::vector<bool>& marked)
        : graph_(graph), marked_(marked), moved_(graph.operators.size(), kNone) {
        made_ = graph;
        made_.operators.clear();
        made_.operands.clear();
    }

    Graph insert(bool compiled) {
        for (std::size_t i = 0; i < graph_.operators.size(); ++i) {
            const Operator& op = graph_.operators[i];
            moved_[i] = !marked_[op.layer] ? emit(op, graph_.reads_of(op), graph_.writes_of(op))
                        : compiled         ? with_turned(op)
                                           : with_passes(op);
        }
        for (std::size_t t = 0; t < graph_.tensors.size(); ++t) {
            const OperatorId before = graph_.tensors[t].producer;
            if (before != kNone && made_.tensors[t].producer == kNone) {
                made_.tensors[t].producer = moved_[before];
            }
        }
        return std::move(made_);
    }

  private:
    OperatorId emit(Operator op, std::span<const TensorId> reads,
                    std::span<const TensorId> writes) {
        op.forward = op.forward == kNone ? kNone : moved_[op.forward];
        return made_.append(op, reads, writes);
    }

    TensorId copy_of(TensorId tensor) {
        Tensor copy = made_.tensors[tensor];
        copy.role = Role::activation;
        copy.output = false;
        copy.producer = kNone;
        made_.tensors.push_back(copy);
        return static_cast<TensorId>(made_.tensors.size() - 1);
    }

    std::uint32_t layer_id(std::uint32_t conv, std::string function, TensorId tensor) {
        auto& known = passes_[{conv, function}];
        if (known == 0) {
            const Layer& layer = graph_.layers[conv];
            const Count channels = channels_of(layer, made_.tensors[tensor]);
            function = function.substr(function.find("to_channels"));
            const Count elements = elements_in(made_.tensors[tensor].bytes, layer.types.input);
            made_.layers.push_back(pass_of(layer, elements, channels, function));
            known = static_cast<std::uint32_t>(made_.layers.size());
        }
        return known - 1;
    }

    std::pair<std::vector<TensorId>, std::vector<TensorId>> operands_of(const Operator& op) const {
        const auto reads = graph_.reads_of(op), writes = graph_.writes_of(op);
        return {{reads.begin(), reads.end()}, {writes.begin(), writes.end()}};
    }

    void add_pass(const Operator& conv, const char* function, TensorId from, TensorId to,
                  bool within_call = true) {
        Operator pass;
        pass.layer = layer_id(conv.layer, function, from);
        pass.number = conv.number;
        pass.kind = conv.kind;
        pass.within_call = within_call;
        made_.tensors[to].producer = emit(pass, {&from, 1}, {&to, 1});
    }

    // Filters of one tap lie alike in both orders.
    bool alike(const Operator& op, TensorId tensor) const {
        const auto& shape = std::get<model::ConvShape>(graph_.layers[op.layer].shape);
        return is_filter(made_.tensors[tensor]) && shape.r * shape.s == 1;
    }

    // The two factors of the product before it, its result behind it.
    OperatorId with_passes(const Operator& op) {
        constexpr std::size_t kFactors = 2; // the third operand is a bias
        auto [reads, writes] = operands_of(op);
        if (reads.empty() || writes.empty()) {
            return emit(op, reads, writes);
        }
        for (std::size_t i = 0; i < std::min(reads.size(), kFactors); ++i) {
            const TensorId given = reads[i];
            if (alike(op, given)) {
                continue;
            }
            reads[i] = copy_of(given);
            add_pass(op,
                     i == 0                            ? "to_channels_last"
                     : is_filter(made_.tensors[given]) ? "filter_to_channels_last"
                                                       : "input_to_channels_last",
                     given, reads[i]);
        }
        const TensorId result = writes.front();
        if (alike(op, result)) {
            return emit(op, reads, writes);
        }
        writes.front() = copy_of(result);
        const OperatorId conv = emit(op, reads, writes);
        made_.tensors[writes.front()].producer = conv;
        add_pass(op, "to_channels_first", writes.front(), result);
        return conv;
    }

    // Whether a tensor that is there before lies with channels first. Filters of one tap or one
    // channel, and images of one channel, lie alike in both orders.
    bool lies_first(const Operator& op, TensorId tensor) const {
        const Tensor& t = graph_.tensors[tensor];
        const auto& shape = std::get<model::ConvShape>(graph_.layers[op.layer].shape);
        const bool filter = t.role == Role::weight;
        const bool alike = filter ? shape.r * shape.s == 1 || shape.c == shape.groups
                                  : shape.c == 1 || t.role != Role::input;
        return t.producer == kNone && !alike;
    }

    OperatorId with_turned(const Operator& op) {
        auto [reads, writes] = operands_of(op);
        for (std::size_t i = 0; i < reads.size() && i < 2; ++i) { // the third is a bias
            if (lies_first(op, reads[i])) {
                const TensorId given = reads[i];
                reads[i] = copy_of(given);
                add_pass(op, i == 0 ? "to_channels_last" : "filter_to_channels_last", given,
                         reads[i], false);
            }
        }
        const bool leaves = !writes.empty() && graph_.tensors[writes.front()].output;
        const TensorId result = writes.empty() ? kNone : writes.front();
        if (leaves) {
            writes.front() = copy_of(result);
        }
        const OperatorId conv = emit(op, reads, writes);
        if (leaves) {
            made_.tensors[writes.front()].producer = conv;
            add_pass(op, "to_channels_first", writes.front(), result, false);
        }
        return conv;
    }

    const Graph& graph_;
    const std::vector<bool>& marked_;
    std::vector<OperatorId> moved_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> passes_; // one more than the id
    Graph made_;
};

} // namespace

Graph with_layout_passes(const Graph& graph, const model::Gpu& gpu, const SoftwareOf& software) {
    std::vector<bool> marked;
    for (const Layer& layer : graph.layers) {
        marked.push_back(needs_passes(layer, gpu, software));
    }
    if (std::find(marked.begin(), marked.end(), true) == marked.end()) {
        return graph;
    }
    return Inserter(graph, marked).insert(false);
}

Graph with_turned_tensors(const Graph& graph, const std::function<bool(const Layer&)>& marked) {
    std::vector<bool> turned;
    for (const Layer& layer : graph.layers) {
        turned.push_back(marked(layer));
    }
    return Inserter(graph, turned).insert(true);
}

} // namespace eyeroof::analysis::step
