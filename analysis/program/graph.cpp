#include "analysis/program/graph.hpp"

#include "analysis/program/graph_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace eyeroof::analysis::step {

using model::GraphStep;
using model::GraphStepKind;
using model::Layer;
using model::Op;

namespace {

// A chain's order: neighbours with counts are mixed evenly, so that a network whose layers are
// counted over its blocks runs block by block.
GraphEdges chain_of(const model::Network& network) {
    GraphEdges edges;
    edges.places.emplace_back();
    edges.names.emplace_back();
    const auto run = [&](std::size_t layer) {
        GraphStep step;
        step.layer = layer;
        step.reads.push_back(edges.steps.empty() ? model::kNetworkInput : edges.steps.size() - 1);
        edges.steps.push_back(std::move(step));
    };
    const auto& layers = network.layers;
    for (std::size_t begin = 0; begin < layers.size();) {
        std::size_t end = begin + 1;
        Count rounds = layers[begin].count;
        while (layers[begin].count > 1 && end < layers.size() && layers[end].count > 1) {
            rounds = std::min(rounds, layers[end++].count);
        }
        for (Count r = 0; r < rounds; ++r) {
            for (std::size_t i = begin; i < end; ++i) {
                // by whole numbers of count * r / rounds, at most 1e9 * 1e9
                const Count times =
                    layers[i].count * (r + 1) / rounds - layers[i].count * r / rounds;
                for (Count t = 0; t < times && edges.steps.size() < model::kMostGraphSteps; ++t) {
                    run(i);
                }
            }
        }
        begin = end;
    }
    return edges;
}

// Everything that the forward graph needs while it is made.
class ForwardMaker {
  public:
    ForwardMaker(const model::Network& network, const GraphEdges& edges,
                 const GraphOptions& options, bool checks, Graph& graph)
        : network_(network), edges_(edges), options_(options), checks_(checks), builder_(graph),
          read_(edges.steps.size(), false), made_(edges.steps.size()),
          weights_(network.layers.size()) {}

    Diagnostics make() {
        for (const Layer& layer : network_.layers) {
            layer_ids_.push_back(builder_.layer(layer));
        }
        find_types();
        for (std::size_t i = 0; i < edges_.steps.size(); ++i) {
            step(i);
        }
        mark_outputs();
        return std::move(found_);
    }

    Builder& builder() { return builder_; }
    const std::vector<ForwardRun>& runs() const { return runs_; }

  private:
    struct Made {
        std::vector<TensorId> tensors;
        Count elements = 0;
        bool padded = false; // of a batch, to more than a sample's elements each
    };

    std::string named(std::size_t i) const {
        if (i >= edges_.steps.size()) {
            return i == model::kConstant ? "constant" : "input";
        }
        const GraphStep& step = edges_.steps[i];
        return step.kind == GraphStepKind::run ? network_.layers[step.layer].name
                                               : edges_.names[step.place];
    }

    // A graph whose counts overflow is refused: its numbers do not matter.
    Count counted_or_refused(std::optional<Count> count) {
        if (!count) {
            builder_.refuse();
        }
        return count.value_or(0);
    }

    Count of_batch(Count elements) {
        return counted_or_refused(checked_mul(elements, options_.batch));
    }

    void step(std::size_t i) {
        const GraphStep& step = edges_.steps[i];
        for (const std::size_t read : step.reads) {
            if (read < made_.size()) {
                read_[read] = true;
            }
        }
        switch (step.kind) {
        case GraphStepKind::run:
            return run(i);
        case GraphStepKind::view:
            return view(i);
        case GraphStepKind::state:
            break;
        }
        const Count elements = of_batch(*step.elements);
        const auto type = types_read_[i].value_or(network_.layers.front().types.input);
        made_[i] = {{builder_.tensor(Role::state, bytes_of(elements, type), kNone, 0)}, elements};
    }

    // The type of the first layer that reads each step, or a view of it.
    void find_types() {
        types_read_.resize(edges_.steps.size());
        for (std::size_t i = edges_.steps.size(); i-- > 0;) {
            const GraphStep& step = edges_.steps[i];
            const auto type = step.kind == GraphStepKind::run
                                  ? std::optional(network_.layers[step.layer].types.input)
                                  : types_read_[i];
            for (const std::size_t read : step.reads) {
                if (type && read < types_read_.size()) {
                    types_read_[read] = type;
                }
            }
        }
    }

    // Elements and tensors of what a step reads; what the network is given takes the size asked
    // for.
    Made source(std::size_t read, Count wanted, model::DataType type) {
        if (read == model::kConstant) {
            return {{}, wanted};
        }
        if (read != model::kNetworkInput) {
            return made_[read];
        }
        if (input_.tensors.empty() || input_.elements < wanted) {
            if (input_.tensors.empty()) {
                input_.tensors = {builder_.tensor(Role::input, 0, kNone, 0)};
            }
            input_.elements = wanted;
            const Count bytes = bytes_of(wanted, type);
            if (bytes < 0) {
                builder_.refuse();
            }
            builder_.graph().tensors[input_.tensors.front()].bytes = bytes;
        }
        return {input_.tensors, wanted};
    }

    void view(std::size_t i) {
        const GraphStep& step = edges_.steps[i];
        Made all;
        for (const std::size_t read : step.reads) {
            const Made from = source(read, 1, network_.layers.front().types.input);
            all.elements = counted_or_refused(checked_add(all.elements, from.elements));
            for (const TensorId t : from.tensors) {
                if (std::find(all.tensors.begin(), all.tensors.end(), t) == all.tensors.end()) {
                    all.tensors.push_back(t);
                }
            }
        }
        if (step.elements) {
            const Count wanted = of_batch(*step.elements);
            if (wanted > all.elements && !step.expands) {
                mismatch(step, fmt::format("'{}' has {} elements, more than the {} that it is a "
                                           "part of",
                                           named(i), wanted, all.elements));
            }
            all.elements = wanted;
        }
        all.padded = step.expands && options_.batch > 1;
        made_[i] = std::move(all);
    }

    void mismatch(const GraphStep& step, std::string message) {
        const SourceLocation& where = edges_.places[step.place];
        if (std::find(reported_.begin(), reported_.end(), step.place) == reported_.end()) {
            reported_.push_back(step.place);
            found_.error("shape-mismatch", std::move(message),
                         "a view takes a part of a tensor, or several as one", where);
        }
    }

    // The tensors that a run reads; an operand that nothing is named for is there anyway.
    std::vector<TensorId> operands(const GraphStep& step, const Layer& layer) {
        const Operands wanted = operands_of(layer);
        std::vector<TensorId> reads;
        const std::size_t given = checks_ ? step.reads.size() : 1;
        for (std::size_t o = 0; o < given; ++o) {
            const bool indices = layer.op == Op::embedding && o == 0;
            const Count need = o < wanted.reads.size() ? wanted.reads[o]
                               : indices ? std::get<model::RowsShape>(layer.shape).rows
                                         : 0;
            const Made from =
                source(step.reads[o], need, indices ? model::DataType::int32 : layer.types.input);
            const bool padded = from.padded && need > from.elements;
            if (checks_ && o < wanted.reads.size() && from.elements != need && !padded) {
                mismatch(step,
                         fmt::format("{} reads {} elements as its operand {}, and {} has {}",
                                     layer.name, need, o + 1, named(step.reads[o]), from.elements));
            }
            for (const TensorId t : from.tensors) {
                if (std::find(reads.begin(), reads.end(), t) == reads.end()) {
                    reads.push_back(t);
                }
            }
        }
        // What stands beyond the operands is waited for and not checked.
        if (checks_ && step.reads.size() < wanted.reads.size()) {
            mismatch(step, fmt::format("{} reads {} tensors, and {} are named", layer.name,
                                       wanted.reads.size(), step.reads.size()));
        }
        return reads;
    }

    // The run's weights; those of the layer that it shares them with where it has less than that of
    // its own: what it has then are biases.
    void add_weights(const GraphStep& step, const Layer& layer, std::uint32_t number,
                     ForwardRun& made) {
        const Count own = model::parameters_of(layer);
        auto& of_layer = weights_[step.layer];
        if (own > 0) {
            made.weight = builder_.tensor(Role::weight, bytes_of(own, layer.types.weight),
                                          layer_ids_[step.layer], number);
            of_layer.push_back(made.weight);
        }
        if (!step.weights_of || weights_[*step.weights_of].empty()) {
            return;
        }
        const TensorId shared = weights_[*step.weights_of].front();
        const Tensor& tensor = builder_.graph().tensors[shared];
        if (tensor.bytes > bytes_of(own, layer.types.weight)) {
            made.bias = made.weight;
            made.weight = shared;
        }
    }

    void run(std::size_t i) {
        const GraphStep& step = edges_.steps[i];
        const Layer& layer = network_.layers[step.layer];
        const std::uint32_t id = layer_ids_[step.layer];
        const std::uint32_t number = builder_.next_number(id);
        std::vector<TensorId> reads = operands(step, layer);
        ForwardRun made;
        add_weights(step, layer, number, made);
        made.inputs = static_cast<std::uint32_t>(reads.size());
        for (const TensorId learned : {made.weight, made.bias}) {
            if (learned != kNone) {
                reads.push_back(learned);
            }
        }
        if (!checks_ && layer.cached > 0) { // a chain has no states of its own
            const auto* sum = std::get_if<model::ElementwiseShape>(&layer.shape);
            const bool adds = sum != nullptr && sum->fn == "add";
            const model::DataType type = adds ? model::DataType::fp32 : layer.types.output;
            builder_.tensor(Role::state, bytes_of(of_batch(layer.cached), type), kNone, 0);
        }
        const Count elements = operands_of(layer).writes;
        const bool over = options_.in_place && writes_over(step, layer);
        std::vector<TensorId> writes;
        if (over) {
            writes.push_back(made_[step.reads.front()].tensors.front());
        } else {
            writes.push_back(builder_.tensor(Role::activation,
                                             bytes_of(elements, layer.types.output), id, number));
        }
        made_[i] = {{writes.front()}, elements};
        const Count beside = options_.training ? kept_beside(layer) : 0;
        if (beside != 0) {
            made.beside = builder_.tensor(Role::activation, beside, id, number);
            writes.push_back(made.beside);
        }
        made.op = builder_.add(id, number, model::Issued::forward, kNone, reads, writes);
        builder_.graph().operators[made.op].within_call = step.in_call;
        runs_.push_back(made);
    }

    // Activations whose gradient needs their output alone, on a tensor that no one else reads and
    // that its maker's gradient does not need.
    bool writes_over(const GraphStep& step, const Layer& layer) const {
        const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
        if (e == nullptr || e->fn != "relu" || step.reads.size() != 1 ||
            step.reads.front() >= made_.size()) {
            return false;
        }
        const std::size_t from = step.reads.front();
        const GraphStep& maker = edges_.steps[from];
        if (maker.kind != GraphStepKind::run || readers_of(from) != 1) {
            return false;
        }
        const Op op = network_.layers[maker.layer].op;
        return op != Op::softmax && op != Op::attention && op != Op::elementwise;
    }

    std::size_t readers_of(std::size_t step) const {
        std::size_t readers = 0;
        for (std::size_t i = step + 1; i < edges_.steps.size() && i < step + 64; ++i) {
            const auto& reads = edges_.steps[i].reads;
            readers += static_cast<std::size_t>(std::count(reads.begin(), reads.end(), step));
        }
        return readers;
    }

    void mark_outputs() {
        for (std::size_t i = 0; i < edges_.steps.size(); ++i) {
            const GraphStep& step = edges_.steps[i];
            const bool last = i + 1 == edges_.steps.size();
            const bool output = step.output || last;
            if (step.kind == GraphStepKind::run && !read_[i] && !output) {
                found_.error(
                    "dangling-tensor", fmt::format("nothing reads the output of {}", named(i)),
                    "name it where it is read, or write `output: true`", edges_.places[step.place]);
            }
            for (const TensorId t : output ? made_[i].tensors : std::vector<TensorId>{}) {
                builder_.graph().tensors[t].output = true;
            }
        }
    }

    const model::Network& network_;
    const GraphEdges& edges_;
    const GraphOptions& options_;
    bool checks_;
    Builder builder_;
    std::vector<std::uint32_t> layer_ids_;
    std::vector<bool> read_;
    std::vector<Made> made_;
    std::vector<std::optional<model::DataType>> types_read_; // of each step
    Made input_;
    std::vector<std::vector<TensorId>> weights_;
    std::vector<ForwardRun> runs_;
    std::vector<std::uint32_t> reported_;
    Diagnostics found_;
};

Diagnostics problems_of(const model::Network& network, bool training) {
    Diagnostics found;
    Count runs = 0;
    for (const Layer& layer : network.layers) {
        auto work = model::work_of(layer);
        work.diagnostics().place({}, layer.name);
        found.append(work.diagnostics());
        runs += layer.count;
        const Operands whole = operands_of(layer);
        const bool fits = whole.writes > 0 &&
                          std::find(whole.reads.begin(), whole.reads.end(), 0) == whole.reads.end();
        if (work && !fits) {
            found.error("overflow", fmt::format("the tensors of {} do not fit 63 bits", layer.name),
                        "look for a dimension that is too large");
        }
        if (training && layer.direction == model::Direction::bwd_weight) {
            found.error(
                "not-forward",
                fmt::format("{} is a gradient: the network is a training step itself", layer.name),
                "leave out --phase training");
        }
        if (runs > static_cast<Count>(model::kMostGraphSteps)) {
            found.error(
                "too-many-operators",
                fmt::format("the network runs more than {} operators", model::kMostGraphSteps),
                "use smaller counts");
            break;
        }
    }
    return found;
}

} // namespace

Result<Graph> make_graph(const model::Network& network, const std::optional<GraphEdges>& edges,
                         const GraphOptions& options) {
    Diagnostics found = problems_of(network, options.training.has_value());
    const auto is_of_another = [&](const GraphStep& step) {
        return step.kind == GraphStepKind::run &&
               std::max(step.layer, step.weights_of.value_or(0)) >= network.layers.size();
    };
    if (edges && std::any_of(edges->steps.begin(), edges->steps.end(), is_of_another)) {
        found.error("wrong-edges", "the graph names layers that the network does not have",
                    "it is of another network, or of this one before its layers were fused");
    }
    if (found.has_errors()) {
        return found;
    }
    Graph graph;
    graph.id = network.id;
    graph.name = network.name;
    graph.chain = !edges.has_value();
    graph.optimizer = options.training ? options.training->optimizer : std::string();
    const GraphEdges chain = edges ? GraphEdges{} : chain_of(network);
    ForwardMaker maker(network, edges ? *edges : chain, options, edges.has_value(), graph);
    Diagnostics wrong = maker.make();
    found.append(wrong);
    if (found.has_errors()) {
        return found;
    }
    if (options.training && maker.builder().fits()) {
        add_training(maker.builder(), maker.runs(), *options.training, options.states);
    }
    if (!maker.builder().fits()) {
        return Result<Graph>::failure("overflow", "the network's tensors have more than 2^56 bytes",
                                      "look for a count or a dimension that is too large");
    }
    return {std::move(graph), std::move(found)};
}

} // namespace eyeroof::analysis::step
