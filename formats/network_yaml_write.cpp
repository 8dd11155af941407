// A network as YAML: one layer a line, in the flow style that the catalog uses.
#include "formats/layer_text.hpp"
#include "formats/network_yaml.hpp"
#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats {

namespace {

bool is_plain(std::string_view text) {
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '/' || c == '.';
    };
    const bool starts = !text.empty() && text[0] != '-' && text[0] != '.';
    return starts && std::all_of(text.begin(), text.end(), plain);
}

std::string scalar(std::string_view text) {
    return is_plain(text) ? std::string(text) : hwdb::yaml_quoted(text);
}

std::string layer_line(const model::Layer& layer) {
    const auto cells = layer_to_text(layer);
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
        if (!cells[i].empty()) {
            line += fmt::format("{}{}: {}", line.empty() ? "" : ", ", column_names()[i],
                                scalar(cells[i]));
        }
    }
    if (layer.input_zeros > 0.0) {
        line += fmt::format(", input_zeros: {}", layer.input_zeros);
    }
    if (layer.output_zeros > 0.0) {
        line += fmt::format(", output_zeros: {}", layer.output_zeros);
    }
    if (layer.parameters) {
        line += fmt::format(", parameters: {}", *layer.parameters);
    }
    if (layer.in_training > 1) {
        line += fmt::format(", in_training: {}", layer.in_training);
    }
    if (layer.cached > 0) {
        line += fmt::format(", cached: {}", layer.cached);
    }
    return line;
}

} // namespace

std::string write_network_yaml(const model::Network& network) {
    std::string yaml = fmt::format("name: {}\n", hwdb::yaml_quoted(network.name));
    if (!network.source.empty()) {
        yaml += fmt::format("source: {}\n", hwdb::yaml_quoted(network.source));
    }
    yaml += "layers:\n";
    for (const model::Layer& layer : network.layers) {
        yaml += fmt::format("  - {{{}}}\n", layer_line(layer));
    }
    if (network.operators > 0) {
        yaml += fmt::format("operators: {}\n", network.operators);
    }
    if (!network.uncosted.empty()) {
        yaml += "uncosted:\n";
    }
    for (const model::Uncosted& u : network.uncosted) {
        yaml += fmt::format(
            "  - {{op: {}, {}why: {}, count: {}, may_multiply: {}}}\n", hwdb::yaml_quoted(u.op),
            u.name.empty() ? "" : fmt::format("name: {}, ", hwdb::yaml_quoted(u.name)),
            hwdb::yaml_quoted(u.why), u.count, u.may_multiply);
    }
    return yaml;
}

} // namespace eyeroof::formats
