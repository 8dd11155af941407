#include "study/formats/onnx/convert.hpp"

#include "model/base/suggest.hpp"
#include "study/formats/onnx/activation_patterns.hpp"
#include "study/formats/onnx/attention_patterns.hpp"
#include "study/formats/onnx/edges.hpp"
#include "study/formats/onnx/operators.hpp"
#include "study/formats/onnx/order.hpp"
#include "study/formats/onnx/product_patterns.hpp"
#include "study/formats/onnx/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace eyeroof::study::onnx {

namespace {

using model::Diagnostics;
using model::Layer;

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

// A name, or what exporters write for sizes that follow from others: "past + sequence".
std::optional<std::int64_t> size_named(const std::string& name, const Sizes& given) {
    if (const auto direct = term_of(name, given)) {
        return direct;
    }
    std::int64_t sum = 0;
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

std::string name_of(const Dim& dim, const std::string& input, std::size_t place) {
    return dim.name.empty() || dim.name == "?" ? fmt::format("{}.{}", input, place) : dim.name;
}

class Converter {
  public:
    Converter(const OnnxGraph& graph, const std::string& file, const Sizes& given)
        : graph_(graph), file_(file), given_(given) {
        costed_.layers.resize(graph.nodes.size());
    }

    model::Result<ConvertedModel> run();

  private:
    void read_inputs(Diagnostics& found);
    void check_given(Diagnostics& found) const;
    void read_constants();
    void walk(std::size_t at);
    void keep(std::size_t at, Step& step);
    void fill_in(const std::string& name, Value& value) const;
    OperatorCount& count_of(const OnnxNode& node);
    model::Network network();

    const OnnxGraph& graph_;
    const std::string& file_;
    const Sizes& given_;
    Costed costed_;
    std::set<std::string> counted_; // weights whose values are counted already
    std::map<std::string, OperatorCount> kinds_;
    std::vector<std::string> names_;
};

void Converter::read_inputs(Diagnostics& found) {
    std::set<std::string> missing;
    for (const std::string& input : graph_.inputs) {
        const TensorType& type = graph_.input_types.at(input);
        Value value;
        value.element = type.element;
        value.origin = Origin::input;
        Dims dims;
        for (std::size_t i = 0; type.dims && i < type.dims->size(); ++i) {
            const Dim& dim = (*type.dims)[i];
            const std::string name = name_of(dim, input, i);
            const auto size = dim.size ? dim.size : size_named(name, given_);
            if (!dim.size) {
                names_.push_back(name);
            }
            if (!size && missing.insert(name).second) {
                found.error(
                    "missing-dimension",
                    fmt::format("the size '{}' of the input '{}' is not fixed", name, input),
                    fmt::format("--dim {}=1, or FILE:{}=1", name, name), {file_, 0, 0});
            }
            dims.push_back(size.value_or(1));
        }
        if (type.dims) {
            value.dims = std::move(dims);
        }
        costed_.values[input] = std::move(value);
    }
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
}

void Converter::check_given(Diagnostics& found) const {
    for (const auto& [name, value] : given_) {
        const auto part_of = [&name = name](const std::string& whole) {
            return whole.find(name) != std::string::npos;
        };
        if (name != kFuseAttention && std::none_of(names_.begin(), names_.end(), part_of)) {
            found.error(
                "unknown-parameter", fmt::format("no input of the model has a size '{}'", name),
                names_.empty() ? "all its sizes are fixed" : model::suggestion(name, names_),
                {file_, 0, 0});
        }
    }
}

void Converter::read_constants() {
    for (const auto& [name, constant] : graph_.constants) {
        Value value;
        value.dims = constant.dims;
        value.element = constant.element;
        value.values = constant.values;
        value.origin = Origin::constant;
        value.source = name;
        costed_.values[name] = std::move(value);
    }
}

// What the file itself says of a tensor, where nothing else does.
void Converter::fill_in(const std::string& name, Value& value) const {
    const auto told = graph_.told.find(name);
    if (told == graph_.told.end()) {
        return;
    }
    value.element = value.element != 0 ? value.element : told->second.element;
    if (value.known() || !told->second.dims) {
        return;
    }
    Dims dims;
    for (const Dim& dim : *told->second.dims) {
        const auto size = dim.size ? dim.size : size_named(dim.name, given_);
        if (!size) {
            return;
        }
        dims.push_back(*size);
    }
    value.dims = std::move(dims);
}

OperatorCount& Converter::count_of(const OnnxNode& node) {
    const std::string name = node.domain.empty() ? node.op : node.domain + "." + node.op;
    OperatorCount& count = kinds_[name];
    count.op = name;
    return count;
}

void Converter::walk(std::size_t at) {
    const OnnxNode& node = graph_.nodes[at];
    std::vector<Value> inputs;
    for (const std::string& name : node.inputs) {
        const auto known = costed_.values.find(name);
        inputs.push_back(known == costed_.values.end() ? Value() : known->second);
        inputs.back().origin = name.empty() ? Origin::constant : inputs.back().origin;
    }
    const bool folds =
        !inputs.empty() && std::all_of(inputs.begin(), inputs.end(),
                                       [](const auto& v) { return v.origin == Origin::constant; });
    std::set<std::string> nobody; // what is known before the network runs learns nothing
    Step step(node, graph_.opset, std::move(inputs), folds ? nobody : counted_);
    if (const Handler* handler = find_handler(node.domain, node.op)) {
        (*handler)(step);
    } else {
        step.fail(node.op == "If" || node.op == "Loop" || node.op == "Scan"
                      ? "its body is not walked"
                      : "it has no cost here");
    }
    if (folds && step.outcome != Outcome::unknown) {
        step.layers.clear();
        step.outcome = Outcome::folded;
        for (Value& out : step.outputs) {
            out.origin = Origin::constant;
            out.source = step.in(0).source;
        }
    }
    keep(at, step);
}

void Converter::keep(std::size_t at, Step& step) {
    for (const Layer& layer : step.layers) {
        if (const auto work = model::work_of(layer); !work) {
            step.fail("its sizes make no layer: " + work.diagnostics().items().front().message);
            break;
        }
    }
    OperatorCount& count = count_of(step.node);
    count.costed += step.outcome == Outcome::costed ? 1 : 0;
    count.views += step.outcome == Outcome::view ? 1 : 0;
    count.folded += step.outcome == Outcome::folded ? 1 : 0;
    count.unknown += step.outcome == Outcome::unknown ? 1 : 0;
    count.why = count.why.empty() ? step.why : count.why;
    for (std::size_t i = 0; i < step.node.outputs.size(); ++i) {
        if (!step.node.outputs[i].empty()) {
            fill_in(step.node.outputs[i], step.outputs[i]);
            costed_.values[step.node.outputs[i]] = std::move(step.outputs[i]);
        }
    }
    costed_.layers[at] = std::move(step.layers);
}

model::Network Converter::network() {
    model::Network network;
    network.id = std::filesystem::path(file_).stem().string();
    network.name = graph_.name.empty() ? network.id : graph_.name;
    network.source = fmt::format("ONNX model {}, opset {}",
                                 std::filesystem::path(file_).filename().string(), graph_.opset);
    return network;
}

Diagnostics told(const ConvertedModel& model, const std::string& file) {
    Diagnostics found;
    std::string list;
    std::size_t nodes = 0;
    for (const OperatorCount& count : model.operators) {
        if (count.unknown > 0) {
            nodes += count.unknown;
            list += fmt::format("{}{} ({}: {})", list.empty() ? "" : ", ", count.op, count.unknown,
                                count.why);
        }
    }
    if (nodes > 0) {
        found.warning("not-costed", fmt::format("{} operators are not costed: {}", nodes, list),
                      "the network is faster on paper than it will be", {file, 0, 0});
    }
    return found;
}

// Names are how edges, --layers and differences mean a layer: of equal ones the later get a number.
void name_apart(std::vector<Layer>& layers) {
    std::set<std::string> taken;
    for (const Layer& layer : layers) {
        taken.insert(layer.name);
    }
    std::map<std::string, int> seen;
    for (Layer& layer : layers) {
        const std::string own = layer.name;
        int& number = seen[own];
        if (++number == 1) {
            continue;
        }
        do {
            layer.name = fmt::format("{}_{}", own, number);
        } while (!taken.insert(layer.name).second && ++number > 0);
    }
}

model::Result<ConvertedModel> Converter::run() {
    Diagnostics found;
    read_inputs(found);
    check_given(found);
    const auto order = run_order(graph_, file_);
    found.append(order.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    read_constants();
    for (const std::size_t at : *order) {
        walk(at);
    }
    ConvertedModel result;
    result.network = network();
    join_activations(graph_, costed_);
    join_biases(graph_, costed_);
    join_movements(graph_, costed_);
    const auto patterns = find_attention(graph_, costed_);
    result.attentions = patterns.size();
    if (const auto fused = given_.find(kFuseAttention);
        fused != given_.end() && fused->second > 0.0) {
        fuse_attention(patterns, costed_);
    }
    result.wiring = edges_of(graph_, *order, costed_, file_);
    for (const std::size_t at : *order) {
        std::move(costed_.layers[at].begin(), costed_.layers[at].end(),
                  std::back_inserter(result.network.layers));
    }
    name_apart(result.network.layers);
    for (auto& [name, count] : kinds_) {
        result.operators.push_back(std::move(count));
    }
    result.dimensions = std::move(names_);
    found = told(result, file_);
    if (result.network.layers.empty()) {
        found.error("no-layers", "none of the model's operators has a cost here",
                    "products, convolutions and element-wise operators have one", {file_, 0, 0});
        return found;
    }
    return {std::move(result), std::move(found)};
}

} // namespace

model::Result<ConvertedModel> convert(const OnnxGraph& graph, const std::string& file,
                                      const Sizes& given) {
    return Converter(graph, file, given).run();
}

model::Result<ConvertedModel> parse_onnx(std::string_view bytes, const std::string& file,
                                         const Sizes& given, const BytesPassed& passed) {
    auto graph = read_graph(bytes, file, passed);
    if (graph) {
        graph = inline_functions(*std::move(graph), file);
    }
    return graph ? convert(*graph, file, given)
                 : model::Result<ConvertedModel>(graph.diagnostics());
}

} // namespace eyeroof::study::onnx
