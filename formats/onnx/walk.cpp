#include "formats/onnx/walk.hpp"

#include "formats/onnx/activation_patterns.hpp"
#include "formats/onnx/fold.hpp"
#include "formats/onnx/operators.hpp"
#include "formats/onnx/position_tables.hpp"
#include "formats/onnx/product_patterns.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace eyeroof::formats::onnx {

namespace {

// A whole number, or the size that a name is given.
std::optional<std::int64_t> term_of(std::string_view text, const Sizes& given) {
    const std::size_t first = text.find_first_not_of(' ');
    const std::size_t last = text.find_last_not_of(' ');
    if (first == std::string_view::npos) {
        return std::nullopt;
    }
    text = text.substr(first, last - first + 1);
    const auto named = given.find(text);
    double value = named != given.end() ? named->second : 0.0;
    if (named == given.end()) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size()) {
            return std::nullopt;
        }
    }
    const bool whole = value >= 0.0 && value <= 1e9 && value == std::floor(value);
    return whole ? std::optional(static_cast<std::int64_t>(value)) : std::nullopt;
}

std::string full_name(const OnnxNode& node) {
    return node.domain.empty() ? node.op : node.domain + "." + node.op;
}

// Whether its result is its first operand's elements in other places or another type.
bool moves_elements(std::string_view op) {
    static const std::set<std::string_view> all = {
        "Cast",     "CastLike", "DequantizeLinear", "Expand",    "Flatten",  "Gather",
        "Identity", "Pad",      "Reshape",          "Slice",     "Split",    "Squeeze",
        "Tile",     "Concat",   "Transpose",        "Unsqueeze", "GatherND", "GatherElements"};
    return all.contains(op);
}

// Whether a tensor of these elements may be learned: not places, sizes, or truth values.
bool may_be_learned(int element) {
    return element != kInt32 && element != kInt64 && element != kBool && element != kUint32 &&
           element != kUint64;
}

// What the results of a node are made of. Arithmetic of constants is of all operands that are real
// numbers (a weight and its norm), but angles and comparisons of places are no one's weights. A
// carried weight stays one where it is moved only.
void keep_stored(Step& step) {
    constexpr std::size_t kMostStored = 64; // tensors that one is made of
    static const std::set<std::string_view> of_places = {"Cos", "Sin", "Trilu", "Where", "Range"};
    const std::string& op = step.node.op;
    const bool moves = moves_elements(op);
    const bool before = step.outcome == Outcome::folded && step.inputs() > 0;
    if ((!before && !moves) || of_places.contains(op)) {
        return;
    }
    std::vector<Stored> all;
    const std::size_t operands = moves && op != "Concat" ? 1 : step.inputs();
    for (std::size_t i = 0; i < operands; ++i) {
        const Value& in = step.in(i);
        if (!before && in.made_of.empty()) {
            return; // data of the network's own
        }
        if (may_be_learned(in.element) && (moves || in.elements().value_or(0) > 1)) {
            all.insert(all.end(), in.made_of.begin(), in.made_of.end());
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.resize(std::min(all.size(), kMostStored));
    for (Value& out : step.outputs) {
        if (out.made_of.empty() && may_be_learned(out.element)) {
            out.made_of = all;
        }
    }
}

class Walker {
  public:
    Walker(const OnnxGraph& graph, const std::vector<std::size_t>& order, const std::string& prefix,
           Costed& costed, Tally& tally)
        : graph_(graph), prefix_(prefix), costed_(costed), tally_(tally),
          angles_(nodes_of_angles(graph, order)) {
        costed_.layers.assign(graph.nodes.size(), {});
    }

    void read_constants() {
        for (const auto& [name, constant] : graph_.constants) {
            Value value;
            value.dims = constant.dims;
            value.element = constant.element;
            value.values = constant.values;
            value.origin = Origin::constant;
            value.made_of = {{prefix_ + name, value.elements().value_or(0)}};
            costed_.values[name] = std::move(value);
        }
    }

    void walk(std::size_t at) {
        const OnnxNode& node = graph_.nodes[at];
        std::vector<Value> inputs;
        for (const std::string& name : node.inputs) {
            const auto known = costed_.values.find(name);
            inputs.push_back(known == costed_.values.end() ? Value() : known->second);
            inputs.back().origin = name.empty() ? Origin::constant : inputs.back().origin;
        }
        const bool folds = known_before(node, inputs);
        Counted none; // what is known before the network runs learns nothing, nor do angles
        Step step(node, tally_.opset, std::move(inputs),
                  folds || angles_[at] ? none : tally_.counted);
        run(step, folds);
        for (model::Layer& layer : step.layers) {
            layer.parameters = angles_[at] ? 0 : layer.parameters;
        }
        keep(at, step);
    }

  private:
    bool known_before(const OnnxNode& node, const std::vector<Value>& inputs) const {
        return !inputs.empty() && !is_control(node) &&
               std::all_of(inputs.begin(), inputs.end(),
                           [](const Value& v) { return v.origin == Origin::constant; });
    }

    void run(Step& step, bool folds) {
        const OnnxNode& node = step.node;
        if (++tally_.walked > kMostWalked) {
            step.fail("the model's loops take too many steps");
        } else if (is_control(node)) {
            run_control(step, costed_.values, tally_);
        } else if (const Handler* handler = find_handler(node.domain, node.op)) {
            (*handler)(step);
        } else {
            step.fail("it has no cost here");
        }
        if (tally_.folded < kMostFolded) {
            fold(step);
        }
        const auto& values = step.outputs.front().values;
        tally_.folded += values ? values->size() : 0;
        if (folds) {
            step.layers.clear();
            step.outcome = Outcome::folded;
            for (Value& out : step.outputs) {
                out.origin = Origin::constant;
            }
        }
        if (step.node.inputs.empty() && step.outputs.front().made_of.empty() &&
            step.outputs.front().origin == Origin::constant) { // a constant among the nodes
            const Value& out = step.outputs.front();
            step.outputs.front().made_of = {
                {prefix_ + node.outputs.front(), out.elements().value_or(0)}};
        }
        keep_stored(step);
    }

    // What the file itself says of a tensor, where nothing else does.
    void fill_in(const std::string& name, Value& value) const {
        const auto told = graph_.told.find(name);
        if (told == graph_.told.end()) {
            return;
        }
        value.element = value.element != 0 ? value.element : told->second.element;
        if (value.known() || value.items || !told->second.dims) {
            return;
        }
        Dims dims;
        for (const Dim& dim : *told->second.dims) {
            const auto size = dim.size ? dim.size : size_named(dim.name, *tally_.given);
            if (!size) {
                return;
            }
            dims.push_back(*size);
        }
        value.dims = std::move(dims);
    }

    void count(const Step& step) {
        OperatorCount& kind = tally_.nodes.kinds[full_name(step.node)];
        kind.op = full_name(step.node);
        kind.costed += step.outcome == Outcome::costed ? 1 : 0;
        kind.views += step.outcome == Outcome::view ? 1 : 0;
        kind.folded += step.outcome == Outcome::folded ? 1 : 0;
        kind.unknown += step.outcome == Outcome::unknown ? 1 : 0;
        kind.why = kind.why.empty() ? step.why : kind.why;
        const bool body = is_control(step.node) && step.outcome != Outcome::unknown;
        tally_.nodes.operators += step.outcome != Outcome::folded && !body ? 1 : 0;
        tally_.nodes.bounded += step.outcome == Outcome::costed && step.at_most() ? 1 : 0;
        if (step.outcome == Outcome::unknown) {
            tally_.nodes.uncosted.push_back(
                {kind.op, step.node.name, step.why, 1, may_multiply(step.node)});
        }
    }

    void keep(std::size_t at, Step& step) {
        for (const model::Layer& layer : step.layers) {
            if (const auto work = model::work_of(layer); !work) {
                step.fail("its sizes make no layer: " + work.diagnostics().items().front().message);
                break;
            }
        }
        count(step);
        for (std::size_t i = 0; i < step.node.outputs.size(); ++i) {
            if (!step.node.outputs[i].empty()) {
                fill_in(step.node.outputs[i], step.outputs[i]);
                costed_.values[step.node.outputs[i]] = std::move(step.outputs[i]);
            }
        }
        costed_.layers[at] = std::move(step.layers);
    }

    const OnnxGraph& graph_;
    const std::string& prefix_;
    Costed& costed_;
    Tally& tally_;
    std::vector<bool> angles_; // of each node
};

} // namespace

void Outcomes::add(const Outcomes& more) {
    for (const auto& [name, count] : more.kinds) {
        OperatorCount& kind = kinds[name];
        kind.op = name;
        kind.costed += count.costed;
        kind.views += count.views;
        kind.folded += count.folded;
        kind.unknown += count.unknown;
        kind.why = kind.why.empty() ? count.why : kind.why;
    }
    uncosted.insert(uncosted.end(), more.uncosted.begin(), more.uncosted.end());
    operators += more.operators;
    bounded += more.bounded;
    attentions += more.attentions;
}

std::optional<std::int64_t> size_named(const std::string& name, const Sizes& given) {
    if (const auto direct = term_of(name, given)) {
        return direct;
    }
    std::int64_t sum = 0; // what exporters write for sizes that follow from others
    std::string_view rest = name;
    while (!rest.empty()) {
        const std::size_t plus = rest.find('+');
        const auto term = term_of(rest.substr(0, plus), given);
        if (!term) {
            return std::nullopt;
        }
        sum += *term;
        rest = plus == std::string_view::npos ? std::string_view() : rest.substr(plus + 1);
    }
    return name.empty() ? std::nullopt : std::optional(sum);
}

void walk_graph(const OnnxGraph& graph, const std::vector<std::size_t>& order,
                const std::string& prefix, Costed& costed, Tally& tally) {
    Walker walker(graph, order, prefix, costed, tally);
    walker.read_constants();
    for (const std::size_t at : order) {
        walker.walk(at);
    }
    forget_tables(graph, costed);
    join_activations(graph, costed);
    join_biases(graph, costed);
    join_movements(graph, costed);
    const auto patterns = find_attention(graph, costed);
    tally.nodes.attentions += patterns.size();
    forget_masks(graph, patterns, costed);
    if (tally.fuse_attention) {
        fuse_attention(patterns, costed);
    }
}

} // namespace eyeroof::formats::onnx
