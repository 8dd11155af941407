// Functions that a file brings itself, in place of their calls: the names of a
// body are set apart by the call they stand in.
#include "formats/onnx/read_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

namespace eyeroof::formats::onnx {

namespace {

constexpr int kDeepest = 32; // functions that call functions

class Inliner {
  public:
    explicit Inliner(const std::vector<OnnxFunction>& functions) {
        for (const OnnxFunction& f : functions) {
            by_name_[{f.domain, f.op}] = &f;
        }
    }

    void expand(OnnxNode node, int depth) {
        const auto found = by_name_.find({node.domain, node.op});
        if (found == by_name_.end()) {
            full = full || ++nodes_ > kMostNodes;
            if (!full) {
                expand_bodies(node, depth);
                out.push_back(std::move(node));
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
        const Rename renamed = [&](const std::string& name) {
            const auto known = names.find(name);
            return known != names.end() ? known->second : prefix + name;
        };
        for (OnnxNode inner : function.nodes) {
            rename(inner, renamed);
            inner.name = inner.name.empty() ? "" : prefix + inner.name;
            bind(inner, node, function);
            expand(std::move(inner), depth + 1);
        }
    }

    using Rename = std::function<std::string(const std::string&)>;

    // Also the names of its bodies, whether they are theirs or captured.
    static void rename(OnnxNode& node, const Rename& renamed) {
        const auto each = [&](std::vector<std::string>& names) {
            std::transform(names.begin(), names.end(), names.begin(), renamed);
        };
        each(node.inputs);
        each(node.outputs);
        for (auto& [name, attribute] : node.attributes) {
            if (!attribute.graph) {
                continue;
            }
            auto body = std::make_shared<OnnxGraph>(*attribute.graph);
            for (OnnxNode& inner : body->nodes) {
                rename(inner, renamed);
            }
            each(body->inputs);
            each(body->outputs);
            body->constants = with_names(std::move(body->constants), renamed);
            body->told = with_names(std::move(body->told), renamed);
            body->input_types = with_names(std::move(body->input_types), renamed);
            attribute.graph = std::move(body);
        }
    }

    template <class T>
    static std::map<std::string, T> with_names(std::map<std::string, T> all,
                                               const Rename& renamed) {
        std::map<std::string, T> changed;
        for (auto& [name, value] : all) {
            changed.emplace(renamed(name), std::move(value));
        }
        return changed;
    }

    // Calls within bodies.
    void expand_bodies(OnnxNode& node, int depth) {
        for (auto& [name, attribute] : node.attributes) {
            if (!attribute.graph) {
                continue;
            }
            auto body = std::make_shared<OnnxGraph>(*attribute.graph);
            std::vector<OnnxNode> around = std::move(out);
            out.clear();
            for (OnnxNode& inner : body->nodes) {
                expand(std::move(inner), depth + 1);
            }
            body->nodes = std::move(out);
            out = std::move(around);
            attribute.graph = std::move(body);
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
    std::size_t calls_ = 0, nodes_ = 0;
};

} // namespace

Result<OnnxGraph> inline_functions(OnnxGraph graph, const std::string& file) {
    if (graph.functions.empty()) {
        return graph;
    }
    Inliner inliner(graph.functions);
    for (const OnnxNode& node : graph.nodes) {
        inliner.expand(node, 0);
    }
    using Answer = Result<OnnxGraph>;
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

} // namespace eyeroof::formats::onnx
