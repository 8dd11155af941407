// Branches whose condition is known, in the place of their If.
#include "formats/onnx/walk.hpp"

#include <fmt/format.h>

#include <iterator>

namespace eyeroof::formats::onnx {

namespace {

using Names = std::map<std::string, std::string>;

void rename(std::string& name, const Names& names) {
    if (const auto known = names.find(name); known != names.end()) {
        name = known->second;
    }
}

void rename(OnnxNode& node, const Names& names);

// Names of a body are its own where it makes them: only what it captures has a new name.
std::shared_ptr<const OnnxGraph> renamed(const OnnxGraph& body, Names names) {
    auto copy = std::make_shared<OnnxGraph>(body);
    for (const std::string& name : body.inputs) {
        names.erase(name);
    }
    for (const auto& entry : body.constants) {
        names.erase(entry.first);
    }
    for (const OnnxNode& node : body.nodes) {
        for (const std::string& name : node.outputs) {
            names.erase(name);
        }
    }
    for (OnnxNode& node : copy->nodes) {
        rename(node, names);
    }
    for (std::string& name : copy->outputs) {
        rename(name, names);
    }
    return copy;
}

void rename(OnnxNode& node, const Names& names) {
    for (std::string& name : node.inputs) {
        rename(name, names);
    }
    for (std::string& name : node.outputs) {
        rename(name, names);
    }
    for (std::string& name : node.captured) {
        rename(name, names);
    }
    for (auto& [name, attribute] : node.attributes) {
        if (attribute.graph) {
            attribute.graph = renamed(*attribute.graph, names);
        }
    }
}

// The branch that is taken; nothing where that is not known.
const OnnxGraph* branch_taken(const OnnxNode& node, const std::map<std::string, Value>& values) {
    if (node.op != "If" || !node.domain.empty() || node.inputs.empty()) {
        return nullptr;
    }
    const auto condition = values.find(node.inputs.front());
    const bool known = condition != values.end() && condition->second.values &&
                       condition->second.values->size() == 1 && !condition->second.bounds;
    if (!known) {
        return nullptr;
    }
    const bool truth = condition->second.values->front() != 0.0;
    const auto branch = node.attributes.find(truth ? "then_branch" : "else_branch");
    return branch == node.attributes.end() ? nullptr : branch->second.graph.get();
}

class BranchInliner {
  public:
    explicit BranchInliner(OnnxGraph& graph) : graph_(graph) {}

    void put(const OnnxNode& node, const OnnxGraph& branch, std::size_t number) {
        const std::string prefix =
            fmt::format("{}#{}/", node.name.empty() ? "If" : node.name, number);
        Names names;
        for (const auto& [name, constant] : branch.constants) {
            names[name] = prefix + name;
            graph_.constants[prefix + name] = constant;
        }
        for (const OnnxNode& inner : branch.nodes) {
            for (const std::string& name : inner.outputs) {
                names[name] = name.empty() ? name : prefix + name;
            }
        }
        for (const auto& [name, type] : branch.told) {
            const auto known = names.find(name);
            if (known != names.end()) {
                graph_.told.emplace(known->second, type);
            }
        }
        for (OnnxNode inner : branch.nodes) {
            rename(inner, names);
            inner.name = inner.name.empty() ? "" : prefix + inner.name;
            nodes.push_back(std::move(inner));
        }
        for (std::size_t i = 0; i < branch.outputs.size() && i < node.outputs.size(); ++i) {
            OnnxNode same;
            same.op = "Identity";
            same.name = fmt::format("{}{}", prefix, i);
            same.inputs = {branch.outputs[i]};
            rename(same.inputs.front(), names);
            same.outputs = {node.outputs[i]};
            nodes.push_back(std::move(same));
        }
    }

    std::vector<OnnxNode> nodes;

  private:
    OnnxGraph& graph_;
};

} // namespace

bool inline_branches(OnnxGraph& graph, const std::map<std::string, Value>& values) {
    BranchInliner inliner(graph);
    std::size_t number = 0;
    for (OnnxNode& node : graph.nodes) {
        if (const OnnxGraph* branch = branch_taken(node, values)) {
            inliner.put(node, *branch, ++number);
        } else {
            inliner.nodes.push_back(std::move(node));
        }
    }
    graph.nodes = std::move(inliner.nodes);
    return number > 0;
}

} // namespace eyeroof::formats::onnx
