#include "formats/network_graph.hpp"

#include <fmt/format.h>

namespace eyeroof::formats {

namespace {

// In double quotes, as YAML and JSON write it; readers let no control characters through.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return out + '"';
}

std::string reads_text(const GraphStep& step) {
    std::string list;
    for (const std::size_t read : step.reads) {
        list += list.empty() ? "" : ", ";
        list += read == kNetworkInput ? "input"
                : read == kConstant   ? "constant"
                                      : fmt::format("t{}", read);
    }
    return fmt::format("reads: [{}]", list);
}

} // namespace

std::string write_edges(const GraphEdges& edges, const std::vector<model::Layer>& layers) {
    std::string yaml = "graph:\n";
    for (std::size_t i = 0; i < edges.steps.size(); ++i) {
        const GraphStep& step = edges.steps[i];
        const bool run = step.kind == GraphStepKind::run;
        const std::string own =
            run ? fmt::format("run: {}, as: t{}", quoted(layers[step.layer].name), i)
                : fmt::format("{}: t{}", step.kind == GraphStepKind::view ? "view" : "state", i);
        yaml += fmt::format("  - {{{}, {}", own, reads_text(step));
        yaml += step.elements ? fmt::format(", elements: {}", *step.elements) : "";
        yaml += step.in_training > 1 ? fmt::format(", in_training: {}", step.in_training) : "";
        yaml += step.expands ? ", expand: true" : "";
        yaml += step.in_call ? ", in_call: true" : "";
        yaml += step.weights_of ? ", weights_of: " + quoted(layers[*step.weights_of].name) : "";
        yaml += step.output ? ", output: true}\n" : "}\n";
    }
    return yaml;
}

} // namespace eyeroof::formats
