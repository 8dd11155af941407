#include "study/formats/network_yaml.hpp"

#include "model/base/suggest.hpp"
#include "study/formats/layer_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace eyeroof::study::read {

namespace {

using hwdb::Node;
using model::Diagnostics;

constexpr double kLargestParameter = 1e9;
// Values that parameters like 0.1 make only nearly whole count as whole.
constexpr double kWholeTolerance = 1e-9;

constexpr std::array<Column, 3> kDefaultColumns = {Column::count, Column::dtype, Column::direction};

std::string_view name_of(Column column) {
    return column_names()[static_cast<std::size_t>(column)];
}

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
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            found.error("unknown-parameter", fmt::format("the network has no parameter '{}'", name),
                        known.empty() ? "it has none at all" : model::suggestion(name, known),
                        {file, 0, 0});
        }
    }
}

Variables values_of(const std::vector<Parameter>& parameters, const Variables& given) {
    Variables values;
    for (const Parameter& p : parameters) {
        const auto chosen = given.find(p.name);
        values[p.name] = chosen != given.end() ? chosen->second : p.standard;
    }
    return values;
}

// Reads one layer: gathers its cells, with expressions worked out, and places what is wrong.
class LayerReader {
  public:
    LayerReader(const Variables& values, const Node& defaults)
        : values_(values), defaults_(defaults) {}

    std::optional<model::Layer> read(const Node& node) {
        std::array<std::string, kColumns> owned;
        LayerText text;
        bool fine = true;
        for (std::size_t i = 0; i < kColumns; ++i) {
            const auto column = static_cast<Column>(i);
            const Node own = node[name_of(column)];
            const Node& source = own.present() || !is_default(column) ? own : default_of(column);
            if (source.present()) {
                fine = cell(source, column, owned[i]) && fine;
                text.cells[i] = owned[i];
            }
        }
        if (!fine) {
            return std::nullopt;
        }
        Diagnostics found;
        auto layer = layer_from_text(text, found);
        report(node, found);
        const double input_zeros = node["input_zeros"].number(0.0, 1.0).value_or(0.0);
        const double output_zeros = node["output_zeros"].number(0.0, 1.0).value_or(0.0);
        if (layer) {
            layer->input_zeros = input_zeros;
            layer->output_zeros = output_zeros;
        }
        return layer;
    }

    // `when` leaves a layer out where its expression is 0.
    bool wanted(const Node& node) {
        const Node condition = node["when"];
        const auto text = condition.text();
        if (!text) {
            return true;
        }
        const auto value = worked_out(condition, text->starts_with('=') ? text->substr(1) : *text);
        return value.value_or(1.0) != 0.0;
    }

  private:
    static bool is_default(Column column) {
        return std::find(kDefaultColumns.begin(), kDefaultColumns.end(), column) !=
               kDefaultColumns.end();
    }
    Node default_of(Column column) const {
        return defaults_.is_map() ? defaults_[name_of(column)] : Node();
    }

    std::optional<double> worked_out(const Node& node, std::string_view expression) {
        const auto value = evaluate(expression, values_);
        for (const model::Diagnostic& d : value.diagnostics()) {
            node.error(d.code, d.message, d.hint);
        }
        return value ? std::optional(*value) : std::nullopt;
    }

    bool cell(const Node& node, Column column, std::string& out) {
        const auto text = node.text();
        if (!text) {
            return false;
        }
        if (!text->starts_with('=') || column == Column::name) {
            out = *text;
            return true;
        }
        const auto value = worked_out(node, std::string_view(*text).substr(1));
        if (!value) {
            return false;
        }
        const double whole = std::round(*value);
        const bool is_whole = std::abs(*value - whole) <= kWholeTolerance * std::max(1.0, whole) &&
                              std::abs(whole) < 1e15;
        if (!is_whole) {
            node.error("not-a-number", fmt::format("{} is {}, not a whole number", *text, *value),
                       "choose other parameters, or use floor(), ceil() or round()");
            return false;
        }
        out = fmt::format("{:.0f}", whole == 0.0 ? 0.0 : whole);
        return true;
    }

    static void report(const Node& node, const Diagnostics& found) {
        for (const model::Diagnostic& d : found) {
            const Node member = d.field.empty() || !node.has(d.field) ? node : node[d.field];
            if (d.severity == model::Severity::error) {
                member.error(d.code, d.message, d.hint);
            } else {
                member.warning(d.code, d.message, d.hint);
            }
        }
    }

    const Variables& values_;
    const Node& defaults_;
};

std::vector<model::Layer> read_layers(const Node& root, const Variables& values) {
    std::vector<model::Layer> layers;
    const Node defaults = root["defaults"];
    if (defaults.present()) {
        for (const Column column : kDefaultColumns) {
            (void)defaults[name_of(column)]; // asked for, also where no layer needs it
        }
    }
    LayerReader reader(values, defaults);
    int number = 0;
    for (const Node& node : root.need("layers").items(1)) {
        ++number;
        if (!reader.wanted(node)) {
            for (const std::string_view key : column_names()) {
                (void)node[key]; // asked for, so that only misspelt keys are unknown
            }
            continue;
        }
        auto layer = reader.read(node);
        if (!layer) {
            continue;
        }
        if (layer->name.empty()) {
            layer->name = fmt::format("layer{}", number);
        }
        layers.push_back(std::move(*layer));
    }
    return layers;
}

std::string stem_of(const std::string& file) {
    return std::filesystem::path(file).stem().string();
}

model::Result<NetworkHead> read_head(const hwdb::Document& document, const std::string& file) {
    const Node root = document.root();
    NetworkHead head;
    head.id = stem_of(file);
    head.name = read_title(root["name"], head.id);
    head.source = read_title(root["source"], "");
    head.parameters = read_parameters(root);
    head.path = file;
    root.ignore_rest();
    return document.conclude(std::move(head));
}

} // namespace

model::Result<NetworkFile> read_network(hwdb::Document& document, const std::string& file,
                                        const Variables& given) {
    const Node root = document.root();
    NetworkFile result;
    model::Network& network = result.network;
    network.id = stem_of(file);
    network.name = read_title(root["name"], network.id);
    network.source = read_title(root["source"], "");
    result.parameters = read_parameters(root);
    Diagnostics wrong;
    check_given(given, result.parameters, file, wrong);
    if (wrong.has_errors()) {
        return wrong;
    }
    network.layers = read_layers(root, values_of(result.parameters, given));
    auto concluded = document.conclude(std::move(result));
    if (concluded && concluded->network.layers.empty()) {
        return model::Result<NetworkFile>::failure("no-layers",
                                                   "every layer is left out by its 'when'",
                                                   "choose other parameters", {file, 0, 0});
    }
    return concluded;
}

model::Result<NetworkFile> parse_network_yaml(std::string text, const std::string& file,
                                              const Variables& given) {
    auto document = hwdb::parse_yaml(std::move(text), file);
    if (!document) {
        return document.diagnostics();
    }
    return read_network(*document, file, given);
}

model::Result<NetworkFile> load_network_yaml(const std::filesystem::path& path,
                                             const Variables& given) {
    auto document = hwdb::load_yaml(path);
    if (!document) {
        return document.diagnostics();
    }
    return read_network(*document, path.string(), given);
}

model::Result<NetworkHead> parse_network_head(std::string text, const std::string& file) {
    const auto document = hwdb::parse_yaml(std::move(text), file);
    return document ? read_head(*document, file) : document.diagnostics();
}

model::Result<NetworkHead> load_network_head(const std::filesystem::path& path) {
    const auto document = hwdb::load_yaml(path);
    return document ? read_head(*document, path.string()) : document.diagnostics();
}

} // namespace eyeroof::study::read
