// Activations that exporters write in parts.
#include "analysis/program/graph.hpp"
#include "formats/onnx/convert.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_formats_onnx_activations {

using namespace eyeroof;
using formats::onnx::OnnxGraph;
using formats::onnx::OnnxNode;

namespace {

OnnxNode node(std::string op, std::vector<std::string> inputs, std::string output) {
    OnnxNode made;
    made.op = std::move(op);
    made.inputs = std::move(inputs);
    made.outputs = {std::move(output)};
    return made;
}

// x of 4 x 8 numbers, and three constants of one.
OnnxGraph graph_of(std::vector<OnnxNode> nodes, std::vector<std::string> outputs) {
    OnnxGraph graph;
    graph.opset = 17;
    graph.nodes = std::move(nodes);
    graph.outputs = std::move(outputs);
    graph.inputs = {"x"};
    graph.input_types["x"] = {1, std::vector<formats::onnx::Dim>{{4, ""}, {8, ""}}};
    for (const char* name : {"root", "one", "half"}) {
        graph.constants[name] = {1, {}, std::vector<double>{1.0}};
    }
    return graph;
}

std::vector<std::string> functions_of(const OnnxGraph& graph) {
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    REQUIRE(converted.ok());
    const auto graph_made = analysis::step::make_graph(converted->network, converted->edges);
    for (const Diagnostic& d : graph_made.diagnostics()) {
        FAIL_CHECK(to_string(d));
    }
    std::vector<std::string> functions;
    for (const model::Layer& layer : converted->network.layers) {
        functions.push_back(std::get<model::ElementwiseShape>(layer.shape).fn);
    }
    return functions;
}

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("x times its sigmoid is one function, whichever stands first") {
    for (const auto& operands : {Names{"x", "s"}, Names{"s", "x"}}) {
        CHECK(functions_of(graph_of({node("Sigmoid", {"x"}, "s"), node("Mul", operands, "y")},
                                    {"y"})) == Names{"silu"});
    }
    CHECK(functions_of(graph_of({node("HardSigmoid", {"x"}, "s"), node("Mul", {"x", "s"}, "y")},
                                {"y"})) == Names{"hardswish"});
}

TEST_CASE("a sigmoid that somebody else reads, or that scales another tensor, stays") {
    CHECK(functions_of(graph_of(
              {node("Sigmoid", {"x"}, "s"), node("Mul", {"x", "s"}, "y"), node("Neg", {"s"}, "z")},
              {"y", "z"})) == Names{"sigmoid", "mul", "neg"});
    CHECK(functions_of(graph_of({node("Sigmoid", {"x"}, "s"), node("Mul", {"x", "s"}, "y")},
                                {"y", "s"})) == Names{"sigmoid", "mul"});
    CHECK(functions_of(graph_of(
              {node("Relu", {"x"}, "r"), node("Sigmoid", {"r"}, "s"), node("Mul", {"x", "s"}, "y")},
              {"y"})) == Names{"relu", "sigmoid", "mul"});
}

TEST_CASE("the Gaussian unit by its error function is one, halved first or last") {
    const std::vector<OnnxNode> start = {node("Div", {"x", "root"}, "d"), node("Erf", {"d"}, "e"),
                                         node("Add", {"e", "one"}, "a")};
    auto last = start;
    last.push_back(node("Mul", {"x", "a"}, "m"));
    last.push_back(node("Mul", {"m", "half"}, "y"));
    CHECK(functions_of(graph_of(last, {"y"})) == Names{"gelu"});
    auto before = start;
    before.push_back(node("Mul", {"x", "half"}, "h"));
    before.push_back(node("Mul", {"h", "a"}, "y"));
    CHECK(functions_of(graph_of(before, {"y"})) == Names{"gelu"});
    auto between = start;
    between.push_back(node("Mul", {"a", "half"}, "m"));
    between.push_back(node("Mul", {"x", "m"}, "y"));
    CHECK(functions_of(graph_of(between, {"y"})) == Names{"gelu"});
    auto never = start; // not halved: another function
    never.push_back(node("Mul", {"x", "a"}, "y"));
    CHECK(functions_of(graph_of(never, {"y"})).size() == 4);
}

} // namespace test_formats_onnx_activations
