// Which tensors of the graphs around it a body reads: ONNX names none of them as inputs.
#include "formats/onnx/graph.hpp"

#include <functional>
#include <set>

namespace eyeroof::formats::onnx {

std::vector<std::string_view> OnnxNode::reads() const {
    std::vector<std::string_view> all(inputs.begin(), inputs.end());
    all.insert(all.end(), captured.begin(), captured.end());
    return all;
}

std::vector<std::string> captured_by(const OnnxGraph& graph) {
    std::set<std::string, std::less<>> own(graph.inputs.begin(), graph.inputs.end());
    for (const auto& entry : graph.constants) {
        own.insert(entry.first);
    }
    for (const OnnxNode& node : graph.nodes) {
        own.insert(node.outputs.begin(), node.outputs.end());
    }
    std::set<std::string> outer;
    const auto take = [&](std::string_view name) {
        if (!name.empty() && !own.contains(name)) {
            outer.emplace(name);
        }
    };
    for (const OnnxNode& node : graph.nodes) {
        for (const std::string_view name : node.reads()) {
            take(name);
        }
    }
    for (const std::string& name : graph.outputs) { // a branch may hand on what it finds around it
        take(name);
    }
    return {outer.begin(), outer.end()};
}

void find_captured(OnnxGraph& graph) {
    for (OnnxNode& node : graph.nodes) {
        std::set<std::string> all;
        for (auto& [name, attribute] : node.attributes) {
            if (attribute.graph) {
                auto body = std::make_shared<OnnxGraph>(*attribute.graph);
                find_captured(*body);
                const auto captured = captured_by(*body);
                all.insert(captured.begin(), captured.end());
                attribute.graph = std::move(body);
            }
        }
        node.captured.assign(all.begin(), all.end());
    }
}

} // namespace eyeroof::formats::onnx
