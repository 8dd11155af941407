#include "formats/onnx/convert.hpp"

#include "base/suggest.hpp"
#include "formats/onnx/edges.hpp"
#include "formats/onnx/order.hpp"
#include "formats/onnx/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace eyeroof::formats::onnx {

namespace {

using model::Layer;

std::string name_of(const Dim& dim, const std::string& input, std::size_t place) {
    return dim.name.empty() || dim.name == "?" ? fmt::format("{}.{}", input, place) : dim.name;
}

// Exporters that leave the weights out make them inputs, by their modules' paths ("fc.weight"); the
// number behind a point tells other inputs apart ("input.1").
bool names_a_weight(const std::string& input) {
    const std::size_t point = input.rfind('.');
    return point != std::string::npos && point > 0 &&
           input.find_first_not_of("0123456789", point + 1) != std::string::npos;
}

class Converter {
  public:
    Converter(OnnxGraph graph, const std::string& file, const Sizes& given)
        : graph_(std::move(graph)), file_(file), given_(given) {}

    Result<ConvertedModel> run();

  private:
    void read_inputs(Diagnostics& found);
    void check_given(Diagnostics& found) const;
    Diagnostics walk(std::vector<std::size_t>& order);
    model::Network network(const std::vector<std::size_t>& order);

    OnnxGraph graph_;
    const std::string& file_;
    const Sizes& given_;
    std::map<std::string, Value> inputs_;
    Costed costed_;
    Tally tally_;
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
                    fmt::format("--dim {}=1, or FILE:{}=1", name, name), {file_, 0, 0}, name);
            }
            dims.push_back(size.value_or(1));
        }
        if (type.dims) {
            value.dims = std::move(dims);
        }
        if (value.known() && names_a_weight(input)) {
            value.made_of = {{input, value.elements().value_or(0)}};
        }
        inputs_[input] = std::move(value);
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
            found.error("unknown-parameter",
                        fmt::format("no input of the model has a size '{}'", name),
                        names_.empty() ? "all its sizes are fixed" : suggestion(name, names_),
                        {file_, 0, 0});
        }
    }
}

// Walks the graph until no branch is left whose condition is known.
Diagnostics Converter::walk(std::vector<std::size_t>& order) {
    constexpr int kMostRounds = 8; // an If within an If is seen a round later
    for (int round = 0; round < kMostRounds; ++round) {
        find_captured(graph_);
        auto found = run_order(graph_, file_);
        if (!found) {
            return found.diagnostics();
        }
        order = *std::move(found);
        const std::size_t walked = tally_.walked;
        tally_ = {};
        tally_.walked = walked;
        tally_.opset = graph_.opset;
        tally_.given = &given_;
        const auto fused = given_.find(kFuseAttention);
        tally_.fuse_attention = fused != given_.end() && fused->second > 0.0;
        costed_ = {};
        costed_.values = inputs_;
        walk_graph(graph_, order, "", costed_, tally_);
        if (round + 1 == kMostRounds || !inline_branches(graph_, costed_.values)) {
            break;
        }
    }
    return {};
}

model::Network Converter::network(const std::vector<std::size_t>& order) {
    model::Network network;
    network.id = std::filesystem::path(file_).stem().string();
    network.name = graph_.name.empty() ? network.id : graph_.name;
    network.source = fmt::format(
        "ONNX model {}, opset {}{}", std::filesystem::path(file_).filename().string(), graph_.opset,
        tally_.nodes.bounded > 0 ? "; sizes that depend on the data at their upper bounds" : "");
    for (const std::size_t at : order) {
        std::move(costed_.layers[at].begin(), costed_.layers[at].end(),
                  std::back_inserter(network.layers));
    }
    network.uncosted = std::move(tally_.nodes.uncosted);
    sort_uncosted(network.uncosted);
    network.operators = static_cast<Count>(tally_.nodes.operators);
    return network;
}

Diagnostics reported(const model::Network& network, std::size_t bounded, const std::string& file) {
    Diagnostics found = uncosted_warning(network, file);
    if (bounded > 0) {
        found.warning("upper-bound",
                      fmt::format("{} operator{} sizes that depend on the data: they are counted "
                                  "at their upper bounds",
                                  bounded, bounded == 1 ? " has" : "s have"),
                      "detections that are kept, iterations that may end early", {file, 0, 0});
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

Result<ConvertedModel> Converter::run() {
    Diagnostics found;
    read_inputs(found);
    check_given(found);
    std::vector<std::size_t> order;
    found.append(found.has_errors() ? Diagnostics{} : walk(order));
    if (found.has_errors()) {
        return found;
    }
    ConvertedModel result;
    result.edges = edges_of(graph_, order, costed_, file_);
    result.network = network(order);
    name_apart(result.network.layers);
    for (auto& [name, count] : tally_.nodes.kinds) {
        result.operators.push_back(std::move(count));
    }
    result.dimensions = std::move(names_);
    result.attentions = tally_.nodes.attentions;
    found = reported(result.network, tally_.nodes.bounded, file_);
    if (result.network.layers.empty()) {
        found.error("no-layers", "none of the model's operators has a cost here",
                    "products, convolutions and element-wise operators have one", {file_, 0, 0});
        return found;
    }
    return {std::move(result), std::move(found)};
}

} // namespace

Result<ConvertedModel> convert(const OnnxGraph& graph, const std::string& file,
                               const Sizes& given) {
    return Converter(graph, file, given).run();
}

Result<ConvertedModel> parse_onnx(std::string_view bytes, const std::string& file,
                                  const Sizes& given, const BytesPassed& passed) {
    auto graph = read_graph(bytes, file, passed);
    if (graph) {
        graph = inline_functions(*std::move(graph), file);
    }
    return graph ? convert(*graph, file, given) : Result<ConvertedModel>(graph.diagnostics());
}

} // namespace eyeroof::formats::onnx
