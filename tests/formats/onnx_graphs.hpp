// ONNX graphs that a test writes down node by node.
#pragma once

#include "formats/onnx/convert.hpp"
#include "formats/onnx/order.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace eyeroof::tests {

inline constexpr int kReal = 1, kWhole = 7, kTruth = 9; // of TensorProto.DataType

using Ints = std::vector<std::int64_t>;

inline formats::onnx::OnnxNode onnx_node(std::string op, std::vector<std::string> inputs,
                                         std::vector<std::string> outputs) {
    formats::onnx::OnnxNode node;
    node.op = std::move(op);
    node.name = node.op + "_" + (outputs.empty() ? "" : outputs.front());
    node.inputs = std::move(inputs);
    node.outputs = std::move(outputs);
    return node;
}

inline formats::onnx::Constant onnx_constant(int element, Ints dims, std::vector<double> values) {
    return {element, std::move(dims), std::move(values)};
}

inline formats::onnx::Constant whole_vector(std::vector<double> values) {
    return {kWhole, {static_cast<std::int64_t>(values.size())}, std::move(values)};
}

// Weights: sizes without values.
inline formats::onnx::Constant onnx_weights(Ints dims, int element = kReal) {
    return {element, std::move(dims), std::nullopt};
}

struct GraphMaker {
    formats::onnx::OnnxGraph graph;

    GraphMaker() { graph.opset = 17; }

    GraphMaker& input(const std::string& name, const Ints& dims, int element = kReal) {
        std::vector<formats::onnx::Dim> all;
        for (const std::int64_t size : dims) {
            all.push_back({size, ""});
        }
        graph.inputs.push_back(name);
        graph.input_types[name] = {element, all};
        return *this;
    }
    GraphMaker& constant(const std::string& name, formats::onnx::Constant value) {
        graph.constants[name] = std::move(value);
        return *this;
    }
    // The node's attributes are set on what is returned.
    formats::onnx::OnnxNode& node(std::string op, std::vector<std::string> inputs,
                                  std::vector<std::string> outputs) {
        graph.nodes.push_back(onnx_node(std::move(op), std::move(inputs), std::move(outputs)));
        return graph.nodes.back();
    }
    GraphMaker& output(const std::string& name) {
        graph.outputs.push_back(name);
        return *this;
    }
    std::shared_ptr<const formats::onnx::OnnxGraph> shared() const {
        return std::make_shared<const formats::onnx::OnnxGraph>(graph);
    }
};

inline formats::onnx::ConvertedModel converted(const formats::onnx::OnnxGraph& graph) {
    auto model = formats::onnx::convert(graph, "made.onnx");
    for (const Diagnostic& d : model.diagnostics()) {
        CAPTURE(to_string(d));
    }
    REQUIRE(model.ok());
    return *model;
}

inline Count macs_of(const formats::onnx::ConvertedModel& model) {
    return totals_of(model.network).value().macs;
}

// What is known of each tensor after a walk over the graph.
inline formats::onnx::Costed walked(const formats::onnx::OnnxGraph& graph) {
    static const formats::onnx::Sizes none;
    formats::onnx::Costed costed;
    formats::onnx::Tally tally;
    tally.opset = graph.opset;
    tally.given = &none;
    for (const auto& [name, type] : graph.input_types) {
        formats::onnx::Value value;
        value.element = type.element;
        value.origin = formats::onnx::Origin::input;
        value.dims.emplace();
        for (const formats::onnx::Dim& dim : *type.dims) {
            value.dims->push_back(dim.size.value());
        }
        costed.values[name] = std::move(value);
    }
    const auto order = formats::onnx::run_order(graph, "made.onnx");
    REQUIRE(order.ok());
    formats::onnx::walk_graph(graph, *order, "", costed, tally);
    return costed;
}

} // namespace eyeroof::tests
