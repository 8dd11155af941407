#include "analysis/fuse/readers.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace eyeroof::analysis {

using formats::GraphStep;
using formats::GraphStepKind;
using model::Layer;

namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

// Does nothing but this step's one tensor pass through it?
bool passes_on(const GraphStep& step, const std::vector<Layer>& layers) {
    const auto tensors = std::count_if(step.reads.begin(), step.reads.end(),
                                       [](std::size_t read) { return read != formats::kConstant; });
    if (tensors != 1 || step.output || step.kind == GraphStepKind::state) {
        return false;
    }
    if (step.kind == GraphStepKind::view) {
        return !step.expands;
    }
    const Layer& layer = layers[step.layer];
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    return applied_on_the_way(layer) || applied_to_rows(layer) || (e != nullptr && e->fn == "add");
}

// The only step that reads each; kNobody where it is none, or several.
std::vector<std::size_t> only_steps(const formats::GraphEdges& edges) {
    std::vector<std::size_t> reader(edges.steps.size(), kNobody);
    std::vector<std::size_t> number(edges.steps.size(), 0);
    for (std::size_t i = 0; i < edges.steps.size(); ++i) {
        for (const std::size_t read : edges.steps[i].reads) {
            if (read < edges.steps.size()) {
                reader[read] = ++number[read] == 1 ? i : kNobody;
            }
        }
    }
    return reader;
}

} // namespace

bool applied_on_the_way(const Layer& layer) {
    switch (layer.op) {
    case model::Op::elementwise:
        return model::tensors_read(std::get<model::ElementwiseShape>(layer.shape).fn) == 1;
    case model::Op::batchnorm:
    case model::Op::softmax:
    case model::Op::rope:
        return true;
    default:
        return false;
    }
}

bool applied_to_rows(const Layer& layer) {
    return layer.op == model::Op::layernorm;
}

OnlyReaders only_readers(const model::Network& network, const formats::GraphEdges& edges) {
    const std::vector<std::size_t> reader = only_steps(edges);
    std::vector<std::optional<std::string>> found(network.layers.size());
    std::vector<bool> several(network.layers.size(), false);
    for (std::size_t i = 0; i < edges.steps.size(); ++i) {
        const GraphStep& step = edges.steps[i];
        if (step.kind != GraphStepKind::run) {
            continue;
        }
        std::size_t next = step.output ? kNobody : reader[i];
        while (next != kNobody && passes_on(edges.steps[next], network.layers)) {
            next = reader[next];
        }
        const bool one = next != kNobody && edges.steps[next].kind == GraphStepKind::run;
        const std::string name = one ? network.layers[edges.steps[next].layer].name : "";
        several[step.layer] =
            several[step.layer] || !one || found[step.layer].value_or(name) != name;
        found[step.layer] = name;
    }
    OnlyReaders readers;
    for (std::size_t i = 0; i < network.layers.size(); ++i) {
        if (found[i] && !several[i]) {
            readers[network.layers[i].name] = *found[i];
        }
    }
    return readers;
}

bool reads_alone(const OnlyReaders& readers, std::string_view layer, std::string_view reader) {
    const auto found = readers.find(layer);
    return found != readers.end() && found->second == reader;
}

} // namespace eyeroof::analysis
