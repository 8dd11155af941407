// What a matrix product takes with it: biases and turned operands.
#include "analysis/program/graph.hpp"
#include "formats/onnx/convert.hpp"

#include <doctest/doctest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace test_formats_onnx_products {

using namespace eyeroof;
using formats::onnx::Dim;
using formats::onnx::OnnxGraph;
using formats::onnx::OnnxNode;

namespace {

using Names = std::vector<std::string>;
using Sizes = std::vector<std::int64_t>;

OnnxNode node(std::string op, Names inputs, std::string output, Sizes perm = {}) {
    OnnxNode made;
    made.op = std::move(op);
    made.inputs = std::move(inputs);
    made.outputs = {std::move(output)};
    if (!perm.empty()) {
        made.attributes["perm"].ints = std::move(perm);
    }
    return made;
}

void add_input(OnnxGraph& graph, const std::string& name, const Sizes& sizes) {
    std::vector<Dim> dims;
    for (const std::int64_t size : sizes) {
        dims.push_back({size, ""});
    }
    graph.inputs.push_back(name);
    graph.input_types[name] = {formats::onnx::kFloat, dims};
}

// x of 3 x 4 x 8; weights of 8 x 16, biases of 16 and of 1.
OnnxGraph linear(std::vector<OnnxNode> nodes, Names outputs) {
    OnnxGraph graph;
    graph.opset = 17;
    graph.nodes = std::move(nodes);
    graph.outputs = std::move(outputs);
    add_input(graph, "x", {3, 4, 8});
    graph.constants["w"] = {formats::onnx::kFloat, {8, 16}, {}};
    graph.constants["b"] = {formats::onnx::kFloat, {16}, {}};
    graph.constants["one"] = {formats::onnx::kFloat, {1}, {}};
    return graph;
}

model::Network network_of(const OnnxGraph& graph) {
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    REQUIRE(converted.ok());
    const auto wired = analysis::step::make_graph(converted->network, converted->edges);
    for (const Diagnostic& d : wired.diagnostics()) {
        FAIL_CHECK(to_string(d));
    }
    return converted->network;
}

Names ops_of(const OnnxGraph& graph) {
    Names ops;
    for (const model::Layer& layer : network_of(graph).layers) {
        ops.emplace_back(model::op_name(layer.op));
    }
    return ops;
}

// a of `sizes`, transposed, times b of `other`.
OnnxGraph turned(const Sizes& sizes, const Sizes& perm, const Sizes& other) {
    OnnxGraph graph;
    graph.opset = 17;
    add_input(graph, "a0", sizes);
    add_input(graph, "b0", other);
    graph.nodes = {node("Relu", {"a0"}, "a"), node("Relu", {"b0"}, "b"),
                   node("Transpose", {"a"}, "t", perm), node("MatMul", {"t", "b"}, "y")};
    graph.outputs = {"y"};
    return graph;
}

} // namespace

TEST_CASE("a learned vector added to a product is its bias, whichever operand it is") {
    for (const auto& operands : {Names{"p", "b"}, Names{"b", "p"}}) {
        const auto network = network_of(
            linear({node("MatMul", {"x", "w"}, "p"), node("Add", operands, "y")}, {"y"}));
        REQUIRE(network.layers.size() == 1);
        CHECK(network.layers[0].op == model::Op::gemm);
        CHECK(parameters_of(network.layers[0]) == 8 * 16 + 16);
    }
}

TEST_CASE("a product, a transpose or a slice whose result has no name is no crash") {
    for (const char* op : {"MatMul", "Transpose", "Slice", "Add"}) {
        CAPTURE(op);
        OnnxNode silent = node(op, {"x", "w"}, "");
        silent.outputs.clear();
        const OnnxGraph graph = linear({silent, node("MatMul", {"x", "w"}, "y")}, {"y"});
        CHECK(formats::onnx::convert(graph, "made.onnx").ok());
    }
}

TEST_CASE(
    "an operand of a product that is an input is learned where its name is a path of modules") {
    for (const auto& [weight, bias, learned] :
         {std::tuple("fc.weight", "fc.bias", 8 * 16), std::tuple("w", "input.1", 0)}) {
        OnnxGraph graph =
            linear({node("MatMul", {"x", weight}, "p"), node("Add", {"p", bias}, "y")}, {"y"});
        graph.constants.clear();
        add_input(graph, weight, {8, 16});
        add_input(graph, bias, {16});
        const auto network = network_of(graph);
        REQUIRE(network.layers.size() == 1);
        CHECK(parameters_of(network.layers[0]) == learned);
    }
}

TEST_CASE("a product of two inputs of the graph has no parameters") {
    OnnxGraph graph;
    graph.opset = 17;
    graph.nodes = {node("MatMul", {"q", "k"}, "y")};
    graph.outputs = {"y"};
    add_input(graph, "q", {12, 128, 64});
    add_input(graph, "k", {12, 64, 128});
    CHECK(totals_of(network_of(graph))->parameters == 0);
}

TEST_CASE("a sum stays apart where another reads the product, or what is added is no bias") {
    const OnnxNode product = node("MatMul", {"x", "w"}, "p");
    const Names apart = {"gemm", "elementwise"};
    CHECK(ops_of(linear({product, node("Add", {"p", "b"}, "y")}, {"y", "p"})) == apart);
    CHECK(ops_of(linear({product, node("Add", {"p", "one"}, "y")}, {"y"})) == apart);
    CHECK(ops_of(linear({product, node("Add", {"p", "p"}, "y")}, {"y"})) == apart);
    CHECK(ops_of(linear({product, node("Mul", {"p", "b"}, "y")}, {"y"})) == apart);
}

TEST_CASE("a product reads a turned operand in place where its matrices lie one distance apart") {
    const Names in_place = {"elementwise", "elementwise", "bmm"};
    const Names copied = {"elementwise", "elementwise", "elementwise", "bmm"};
    // One sequence, 12 heads out of rows of 12 x 64: the heads lie 64 apart.
    CHECK(ops_of(turned({1, 50, 12, 64}, {0, 2, 1, 3}, {1, 12, 64, 50})) == in_place);
    CHECK(ops_of(turned({1, 50, 12, 64}, {0, 2, 3, 1}, {1, 12, 50, 64})) == in_place);
    CHECK(ops_of(turned({6, 50, 64}, {0, 2, 1}, {6, 50, 8})) == in_place);
    CHECK(ops_of(turned({50, 6, 64}, {1, 0, 2}, {6, 64, 8})) == in_place);
    // Of two sequences the second one's first head does not follow the first one's last.
    CHECK(ops_of(turned({2, 50, 12, 64}, {0, 2, 1, 3}, {2, 12, 64, 50})) == copied);
    // Neither rows nor columns lie densely.
    CHECK(ops_of(turned({64, 50, 8}, {2, 1, 0}, {8, 64, 4})) == copied);
    CHECK(ops_of(turned({50, 64, 8}, {2, 0, 1}, {8, 64, 4})) == copied);
}

TEST_CASE("a transpose that somebody else reads moves its tensor") {
    OnnxGraph graph = turned({1, 50, 12, 64}, {0, 2, 1, 3}, {1, 12, 64, 50});
    graph.nodes.push_back(node("Relu", {"t"}, "z"));
    graph.outputs.push_back("z");
    CHECK(network_of(graph).layers.size() == 5);
}

TEST_CASE("pieces that are only put together again are moved once, and a dense piece never") {
    const auto sliced = [](const std::string& axis, Names outputs) {
        OnnxGraph graph =
            linear({node("Slice", {"x", "zero", "two", axis}, "first"),
                    node("Slice", {"x", "two", "four", axis}, "second"),
                    node("Concat", {"second", "first"}, "y"), node("Relu", {"y"}, "z")},
                   std::move(outputs));
        const std::vector<std::pair<const char*, double>> numbers = {
            {"zero", 0.0}, {"two", 2.0}, {"four", 4.0}, {"rows", 1.0}};
        for (const auto& [name, value] : numbers) {
            graph.constants[name] = {formats::onnx::kInt64, {1}, std::vector<double>{value}};
        }
        graph.nodes[2].attributes["axis"].i = 1;
        return graph;
    };
    CHECK(network_of(sliced("rows", {"z"})).layers.size() == 2);
    CHECK(network_of(sliced("rows", {"z", "first"})).layers.size() == 3);
}

TEST_CASE("an Einsum of several operands is one product after the other, from the left") {
    OnnxGraph graph;
    graph.opset = 17;
    OnnxNode einsum = node("Einsum", {"a", "b", "c"}, "z");
    einsum.name = "z";
    einsum.attributes["equation"].s = "ikl,kj,lj->ij";
    graph.nodes = {einsum};
    graph.outputs = {"z"};
    add_input(graph, "a", {8, 4, 16});
    add_input(graph, "b", {4, 2});
    add_input(graph, "c", {16, 2});
    const model::Network network = network_of(graph);
    const auto& layers = network.layers;
    REQUIRE(layers.size() == 2);
    // i l are kept of a, j of b, k is summed: 128 x 2 x 4
    CHECK(std::get<model::GemmShape>(layers[0].shape) == model::GemmShape{1, 128, 2, 4});
    // then j is kept of both, i of the first, l is summed
    CHECK(std::get<model::GemmShape>(layers[1].shape) == model::GemmShape{2, 8, 1, 16});
    CHECK(network.uncosted.empty());
}

} // namespace test_formats_onnx_products
