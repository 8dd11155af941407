// ONNX graphs that a test writes down node by node.
#pragma once

#include "study/formats/onnx/convert.hpp"
#include "study/formats/onnx/order.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::tests {

inline constexpr int kReal = 1, kWhole = 7, kTruth = 9; // of TensorProto.DataType

using Ints = std::vector<std::int64_t>;

inline study::onnx::OnnxNode onnx_node(std::string op, std::vector<std::string> inputs,
                                       std::vector<std::string> outputs) {
    study::onnx::OnnxNode node;
    node.op = std::move(op);
    node.name = node.op + "_" + (outputs.empty() ? "" : outputs.front());
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return node;
}

inline study::onnx::Constant onnx_constant(int element, Ints dims, std::vector<double> values) {
    return {element, std::move(dims), std::move(values)};
}

inline study::onnx::Constant whole_vector(std::vector<double> values) {
    return {kWhole, {static_cast<std::int64_t>(values.size())}, std::move(values)};
}

// Weights: sizes without values.
inline study::onnx::Constant onnx_weights(Ints dims, int element = kReal) {
    return {element, std::move(dims), std::nullopt};
}

struct GraphMaker {
    study::onnx::OnnxGraph graph;

    GraphMaker() { graph.opset = 17; }

    GraphMaker& input(const std::string& name, const Ints& dims, int element = kReal) {
        std::vector<study::onnx::Dim> all;
        for (const std::int64_t size : dims) {
            all.push_back({size, ""});
        }
        graph.inputs.push_back(name);
        graph.input_types[name] = {element, all};
        return *this;
    }
    GraphMaker& constant(const std::string& name, study::onnx::Constant value) {
        graph.constants[name] = std::move(value);
        return *this;
    }
    // The node's attributes are set on what is returned.
    study::onnx::OnnxNode& node(std::string op, std::vector<std::string> inputs,
                                std::vector<std::string> outputs) {
        graph.nodes.push_back(onnx_node(std::move(op), std::move(inputs), std::move(outputs)));
        return graph.nodes.back();
    }
    GraphMaker& output(const std::string& name) {
        graph.outputs.push_back(name);
        return *this;
    }
    std::shared_ptr<const study::onnx::OnnxGraph> shared() const {
        return std::make_shared<const study::onnx::OnnxGraph>(graph);
    }
};

inline study::onnx::ConvertedModel converted(const study::onnx::OnnxGraph& graph) {
    auto model = study::onnx::convert(graph, "made.onnx");
    for (const model::Diagnostic& d : model.diagnostics()) {
        CAPTURE(to_string(d));
    }
    REQUIRE(model.ok());
    return *model;
}

inline model::Count macs_of(const study::onnx::ConvertedModel& model) {
    return totals_of(model.network).value().macs;
}

// What is known of each tensor after a walk over the graph.
inline study::onnx::Costed walked(const study::onnx::OnnxGraph& graph) {
    static const study::onnx::Sizes none;
    study::onnx::Costed costed;
    study::onnx::Tally tally;
    tally.opset = graph.opset;
    tally.given = &none;
    for (const auto& [name, type] : graph.input_types) {
        study::onnx::Value value;
        value.element = type.element;
        value.origin = study::onnx::Origin::input;
        value.dims.emplace();
        for (const study::onnx::Dim& dim : *type.dims) {
            value.dims->push_back(dim.size.value());
        }
        costed.values[name] = std::move(value);
    }
    const auto order = study::onnx::run_order(graph, "made.onnx");
    REQUIRE(order.ok());
    study::onnx::walk_graph(graph, *order, "", costed, tally);
    return costed;
}

} // namespace eyeroof::tests
