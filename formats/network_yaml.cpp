#include "formats/network_yaml.hpp"

#include "base/suggest.hpp"
#include "base/text_file.hpp"
#include "formats/hf/network.hpp"
#include "formats/layer_text.hpp"
#include "formats/network_layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace eyeroof::formats {

namespace {

using hwdb::Node;

constexpr double kLargestParameter = 1e9;
std::string read_title(const Node& node, const std::string& otherwise) {
    std::string text = node.text().value_or(otherwise);
    if (has_control_characters(text)) {
        node.error("bad-name", "the text contains control characters",
                   "use letters, digits and signs");
    }
    return text;
}

Parameter read_parameter(const std::string& name, const Node& node) {
    Parameter parameter;
    parameter.name = name;
    if (node.is_scalar()) {
        parameter.standard = node.number(0.0, kLargestParameter).value_or(1.0);
        return parameter;
    }
    parameter.min = node["min"].number(0.0, kLargestParameter).value_or(0.0);
    parameter.max =
        node["max"].number(parameter.min, kLargestParameter).value_or(kLargestParameter);
    parameter.standard =
        node.need("default").number(parameter.min, parameter.max).value_or(parameter.min);
    parameter.meaning = node["meaning"].text().value_or("");
    return parameter;
}

std::vector<Parameter> read_parameters(const Node& root) {
    std::vector<Parameter> parameters;
    for (const auto& [name, node] : root["parameters"].entries()) {
        parameters.push_back(read_parameter(name, node));
    }
    return parameters;
}

// Each value must be one of a parameter, within its bounds.
std::vector<Variant> read_variants(const Node& root, const std::vector<Parameter>& parameters) {
    std::vector<Variant> variants;
    std::vector<std::string> known;
    for (const Parameter& p : parameters) {
        known.push_back(p.name);
    }
    for (const auto& [id, node] : root["variants"].entries()) {
        Variant variant{id, {}};
        for (const auto& [name, value] : node.entries()) {
            const auto p = std::find(known.begin(), known.end(), name);
            if (p == known.end()) {
                value.error("unknown-parameter",
                            fmt::format("the network has no parameter '{}'", name),
                            known.empty() ? "it has none at all" : suggestion(name, known));
                continue;
            }
            const Parameter& of = parameters[static_cast<std::size_t>(p - known.begin())];
            variant.values[name] = value.number(of.min, of.max).value_or(of.standard);
        }
        variants.push_back(std::move(variant));
    }
    return variants;
}

void check_given(const Variables& given, const std::vector<Parameter>& parameters,
                 const std::string& file, Diagnostics& found) {
    std::vector<std::string> known;
    for (const Parameter& p : parameters) {
        known.push_back(p.name);
        const auto value = given.find(p.name);
        if (value != given.end() && !(value->second >= p.min && value->second <= p.max)) {
            found.error("out-of-range", fmt::format("{} is {}", p.name, value->second),
                        fmt::format("use {} to {}", p.min, p.max), {file, 0, 0}, p.name);
        }
    }
    for (const auto& [name, value] : given) {
        const bool switches = name == kAllOperators && (value == 0.0 || value == 1.0);
        if (!switches && std::find(known.begin(), known.end(), name) == known.end()) {
            found.error("unknown-parameter", fmt::format("the network has no parameter '{}'", name),
                        known.empty() ? "it has none at all" : suggestion(name, known),
                        {file, 0, 0});
        }
    }
}

bool declares(const std::vector<Parameter>& parameters, std::string_view name) {
    return std::any_of(parameters.begin(), parameters.end(),
                       [&](const Parameter& p) { return p.name == name; });
}

Variables values_of(const std::vector<Parameter>& parameters, const Variables& given) {
    Variables values;
    for (const Parameter& p : parameters) {
        const auto chosen = given.find(p.name);
        values[p.name] = chosen != given.end() ? chosen->second : p.standard;
    }
    return values;
}

// What `net convert` writes of operators that could not be costed.
void read_uncosted(const Node& root, model::Network& network) {
    constexpr hwdb::IntegerRange any{0, model::kMaxDimension};
    network.operators = root["operators"].integer(any).value_or(0);
    const Node list = root["uncosted"];
    if (!list) {
        return;
    }
    for (const Node& node : list.items()) {
        model::Uncosted entry;
        entry.op = node.need("op").text().value_or("");
        entry.name = node["name"].text().value_or("");
        entry.why = node["why"].text().value_or("it has no cost here");
        entry.count = node["count"].integer({1, model::kMaxDimension}).value_or(1);
        entry.may_multiply = node["may_multiply"].boolean().value_or(false);
        network.uncosted.push_back(std::move(entry));
    }
    sort_uncosted(network.uncosted);
    if (network.operators > 0 && network.operators < uncosted_operators(network)) {
        root["operators"].error("out-of-range", "more operators are not costed than there are",
                                "`operators` counts those with a cost too");
    }
}

std::string stem_of(const std::string& file) {
    return std::filesystem::path(file).stem().string();
}

Result<NetworkHead> read_head(const hwdb::Document& document, const std::string& file) {
    const Node root = document.root();
    NetworkHead head;
    head.id = stem_of(file);
    head.name = read_title(root["name"], head.id);
    head.source = read_title(root["source"], "");
    head.parameters = read_parameters(root);
    head.variants = read_variants(root, head.parameters);
    head.path = file;
    root.ignore_rest();
    return document.conclude(std::move(head));
}

} // namespace

Result<NetworkFile> read_network(hwdb::Document& document, const std::string& file,
                                 const Variables& given) {
    const Node root = document.root();
    NetworkFile result;
    model::Network& network = result.network;
    network.id = stem_of(file);
    network.name = read_title(root["name"], network.id);
    network.source = read_title(root["source"], "");
    result.parameters = read_parameters(root);
    (void)read_variants(root, result.parameters);
    Diagnostics wrong;
    check_given(given, result.parameters, file, wrong);
    if (wrong.has_errors()) {
        return wrong;
    }
    const Variables values = values_of(result.parameters, given);
    network.layers = read_layers(root, values);
    read_uncosted(root, network);
    result.edges = read_edges(root, network.layers, values);
    if (const auto all = given.find(kAllOperators);
        all != given.end() && all->second == 0.0 && !declares(result.parameters, kAllOperators)) {
        std::erase_if(network.layers, [](const model::Layer& l) { return !multiplies(l.op); });
        result.edges.reset();
    }
    const Diagnostics incomplete = uncosted_warning(network, file);
    auto concluded = document.conclude(std::move(result));
    if (concluded) {
        concluded.diagnostics().append(incomplete);
    }
    if (concluded && concluded->network.layers.empty()) {
        return Result<NetworkFile>::failure("no-layers", "every layer is left out by its 'when'",
                                            "choose other parameters", {file, 0, 0});
    }
    return concluded;
}

Result<NetworkFile> parse_network_yaml(std::string text, const std::string& file,
                                       const Variables& given) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    if (!document) {
        return document.diagnostics();
    }
    return read_network(*document, file, given);
}

Result<NetworkHead> parse_network_head(std::string text, const std::string& file) {
    const auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? read_head(*document, file) : document.diagnostics();
}

Result<NetworkHead> load_network_head(const std::filesystem::path& path) {
    if (path.extension() == ".json") {
        auto text = read_text_file(path);
        const auto config = text && hf::is_hf_config(*text)
                                ? hf::read_hf_config(*text, path.string())
                                : Result<std::string>(text.diagnostics());
        if (config) {
            return parse_network_head(*config, path.string());
        }
    }
    const auto document = hwdb::load_yaml(path);
    return document ? read_head(*document, path.string()) : document.diagnostics();
}

} // namespace eyeroof::formats
