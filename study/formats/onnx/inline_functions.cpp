// Functions that a file brings itself, in place of their calls: the names of a
// body are set apart by the call they stand in.
#include "study/formats/onnx/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::study::onnx {

namespace {

constexpr int kDeepest = 32; // functions that call functions

class Inliner {
  public:
    explicit Inliner(const std::vector<OnnxFunction>& functions) {
        for (const OnnxFunction& f : functions) {
            by_name_[{f.domain, f.op}] = &f;
        }
    }

    void expand(const OnnxNode& node, int depth) {
        const auto found = by_name_.find({node.domain, node.op});
        if (found == by_name_.end()) {
            full = full || out.size() >= kMostNodes;
            if (!full) {
                out.push_back(node);
            }
            return;
        }
        deep = deep || depth >= kDeepest;
        full = full || calls_ >= kMostNodes;
        if (!deep && !full) {
            call(node, *found->second, depth);
        }
    }

    std::vector<OnnxNode> out;
    bool full = false;
    bool deep = false;

  private:
    void call(const OnnxNode& node, const OnnxFunction& function, int depth) {
        const std::string prefix =
            fmt::format("{}#{}/", node.name.empty() ? node.op : node.name, ++calls_);
        std::map<std::string, std::string> names{{"", ""}};
        for (std::size_t i = 0; i < function.inputs.size(); ++i) {
            names[function.inputs[i]] = i < node.inputs.size() ? node.inputs[i] : "";
        }
        for (std::size_t i = 0; i < function.outputs.size() && i < node.outputs.size(); ++i) {
            names[function.outputs[i]] = node.outputs[i];
        }
        const auto renamed = [&](std::string& name) {
            const auto known = names.find(name);
            name = known != names.end() ? known->second : prefix + name;
        };
        for (OnnxNode inner : function.nodes) {
            std::for_each(inner.inputs.begin(), inner.inputs.end(), renamed);
            std::for_each(inner.outputs.begin(), inner.outputs.end(), renamed);
            inner.name = inner.name.empty() ? "" : prefix + inner.name;
            bind(inner, node, function);
            expand(inner, depth + 1);
        }
    }

    // Attributes that refer to those of the call.
    static void bind(OnnxNode& inner, const OnnxNode& node, const OnnxFunction& function) {
        for (auto at = inner.attributes.begin(); at != inner.attributes.end();) {
            if (at->second.refers.empty()) {
                ++at;
                continue;
            }
            const auto given = node.attributes.find(at->second.refers);
            const auto standard = function.defaults.find(at->second.refers);
            if (given != node.attributes.end()) {
                (at++)->second = given->second;
            } else if (standard != function.defaults.end()) {
                (at++)->second = standard->second;
            } else {
                at = inner.attributes.erase(at);
            }
        }
    }

    std::map<std::pair<std::string, std::string>, const OnnxFunction*> by_name_;
    std::size_t calls_ = 0;
};

} // namespace

model::Result<OnnxGraph> inline_functions(OnnxGraph graph, const std::string& file) {
    if (graph.functions.empty()) {
        return graph;
    }
    Inliner inliner(graph.functions);
    for (const OnnxNode& node : graph.nodes) {
        inliner.expand(node, 0);
    }
    using Answer = model::Result<OnnxGraph>;
    if (inliner.deep) {
        return Answer::failure("bad-onnx",
                               "a function of the file calls itself, or too many others",
                               "export the model without functions", {file, 0, 0});
    }
    if (inliner.full) {
        return Answer::failure(
            "too-many-layers",
            fmt::format("with its functions the graph has more than {} nodes", kMostNodes),
            "export the model in parts", {file, 0, 0});
    }
    graph.nodes = std::move(inliner.out);
    graph.functions.clear();
    return graph;
}

} // namespace eyeroof::study::onnx
