// Sizes that exporters compute: constants followed through slices, transposes and reshapes.
#include "formats/onnx/convert.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_formats_onnx_values {

using namespace eyeroof;
using formats::onnx::Constant;
using formats::onnx::Dim;
using formats::onnx::OnnxGraph;
using formats::onnx::OnnxNode;

namespace {

constexpr int kFloat = 1;
constexpr int kWhole = 7;

OnnxNode made(std::string op, std::vector<std::string> inputs, std::string output) {
    OnnxNode node;
    node.op = std::move(op);
    node.inputs = std::move(inputs);
    node.outputs = {std::move(output)};
    return node;
}

Constant whole(std::vector<double> values) {
    return {kWhole, {static_cast<std::int64_t>(values.size())}, std::move(values)};
}

} // namespace

TEST_CASE("padding that is turned from PyTorch's order into ONNX's is followed") {
    // PyTorch pads the last axis first: (0, 3, 0, 2) are 3 columns and 2 rows behind. The exporter
    // makes pairs of them, turns their order around, and lays all beginnings before all ends.
    OnnxGraph graph;
    graph.opset = 17;
    graph.inputs = {"x"};
    graph.input_types["x"] = {kFloat, std::vector<Dim>{{1, ""}, {4, ""}, {10, ""}, {12, ""}}};
    graph.constants["pads"] = whole({0, 3, 0, 2, 0, 0, 0, 0});
    graph.constants["pairs"] = whole({-1, 2});
    graph.constants["from"] = whole({-1});
    graph.constants["to"] = whole({-9223372036854775807.0});
    graph.constants["axis"] = whole({0});
    graph.constants["back"] = whole({-1});
    graph.constants["flat"] = whole({-1});
    graph.nodes = {made("Reshape", {"pads", "pairs"}, "paired"),
                   made("Slice", {"paired", "from", "to", "axis", "back"}, "turned"),
                   made("Transpose", {"turned"}, "ends"),
                   made("Reshape", {"ends", "flat"}, "all"),
                   made("Pad", {"x", "all"}, "padded"),
                   made("Relu", {"padded"}, "y")};
    graph.nodes[2].attributes["perm"].ints = {1, 0};
    graph.outputs = {"y"};
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    for (const Diagnostic& d : converted.diagnostics()) {
        FAIL_CHECK(to_string(d));
    }
    REQUIRE(converted.ok());
    REQUIRE(converted->network.layers.size() == 2);
    const auto& relu = std::get<model::ElementwiseShape>(converted->network.layers[1].shape);
    CHECK(relu.cols == 12 + 3);
    CHECK(relu.rows == 1 * 4 * (10 + 2));
}

TEST_CASE("a reduction writes one value for each that is left") {
    for (const int keeps : {0, 1}) {
        OnnxGraph graph;
        graph.opset = 17;
        graph.inputs = {"x"};
        graph.input_types["x"] = {kFloat, std::vector<Dim>{{2, ""}, {4, ""}, {3, ""}}};
        OnnxNode mean = made("ReduceMean", {"x"}, "y");
        mean.attributes["axes"].ints = {1};
        mean.attributes["keepdims"].i = keeps;
        graph.nodes = {mean};
        graph.outputs = {"y"};
        const auto converted = formats::onnx::convert(graph, "made.onnx");
        REQUIRE(converted.ok());
        const auto work = model::work_of(converted->network.layers.at(0));
        REQUIRE(work.ok());
        CHECK(work->flops == 24);
        CHECK(work->bytes() == 4 * (24 + 6));
    }
}

TEST_CASE("a pool with gaps between its taps has as many outputs as its tensor") {
    OnnxGraph graph;
    graph.opset = 17;
    graph.inputs = {"x"};
    graph.input_types["x"] = {kFloat, std::vector<Dim>{{1, ""}, {8, ""}, {12, ""}, {11, ""}}};
    OnnxNode pool = made("MaxPool", {"x"}, "y");
    pool.attributes["kernel_shape"].ints = {3, 3};
    pool.attributes["dilations"].ints = {2, 1};
    graph.nodes = {pool};
    graph.outputs = {"y"};
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    REQUIRE(converted.ok());
    const auto& shape = std::get<model::PoolShape>(converted->network.layers.at(0).shape);
    CHECK(shape.p() == 12 - 4);
    CHECK(shape.q() == 11 - 2);
}

TEST_CASE("a pool reads each element once, in three dimensions and with gaps between its taps") {
    struct Case {
        std::vector<std::int64_t> size, kernel, strides, dilations, pads;
        std::int64_t outputs;
    };
    const std::vector<Case> cases = {
        {{16, 16, 16}, {2, 2, 2}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, 8 * 8 * 8},
        {{8, 12, 14}, {3, 3, 3}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 4 * 6 * 7},
        {{8, 8, 9}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 8 * 8 * 9},
        {{4, 7, 7}, {4, 7, 7}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, 1},
        {{6, 9, 11}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, 6 * 4 * 5},
        {{6, 15, 15}, {2, 3, 3}, {2, 2, 2}, {1, 1, 1}, {0, 0, 0, 0, 0, 0}, 3 * 7 * 7},
        {{28, 28}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 1, 1}, 14 * 14},
        {{27, 29}, {3, 3}, {1, 1}, {1, 1}, {2, 0, 0, 2}, 27 * 29},
        {{24, 20}, {3, 3}, {1, 1}, {4, 2}, {0, 0, 0, 0}, 16 * 16},
        {{24, 20}, {3, 3}, {1, 1}, {4, 2}, {4, 2, 4, 2}, 24 * 20},
        {{24, 20}, {2, 3}, {1, 1}, {2, 3}, {1, 0, 1, 0}, 24 * 14},
    };
    for (const Case& c : cases) {
        CAPTURE(c.outputs);
        OnnxGraph graph;
        graph.opset = 17;
        graph.inputs = {"x"};
        std::vector<Dim> dims = {{2, ""}, {3, ""}};
        std::int64_t elements = 2 * 3;
        for (const std::int64_t size : c.size) {
            dims.push_back({size, ""});
            elements *= size;
        }
        graph.input_types["x"] = {kFloat, dims};
        OnnxNode pool = made("MaxPool", {"x"}, "y");
        pool.attributes["kernel_shape"].ints = c.kernel;
        pool.attributes["strides"].ints = c.strides;
        pool.attributes["dilations"].ints = c.dilations;
        pool.attributes["pads"].ints = c.pads;
        graph.nodes = {pool};
        graph.outputs = {"y"};
        const auto converted = formats::onnx::convert(graph, "made.onnx");
        REQUIRE(converted.ok());
        const auto work = model::work_of(converted->network.layers.at(0));
        REQUIRE(work.ok());
        CHECK(work->bytes() == 4 * (elements + 2 * 3 * c.outputs));
    }
}

TEST_CASE("a pool in three dimensions whose planes exceed the largest dimension has no work") {
    constexpr std::int64_t kWide = 1'000'000'000, kHalf = 500'000'000;
    for (const auto& [size, kernel, pad] : {std::tuple{kWide, kWide, std::int64_t{0}},
                                            {kWide, std::int64_t{2}, std::int64_t{0}},
                                            {kWide, kHalf, kHalf}}) {
        CAPTURE(kernel);
        OnnxGraph graph;
        graph.opset = 17;
        graph.inputs = {"x"};
        graph.input_types["x"] = {
            kFloat, std::vector<Dim>{{1, ""}, {1, ""}, {2, ""}, {size, ""}, {size, ""}}};
        OnnxNode pool = made("MaxPool", {"x"}, "y");
        pool.attributes["kernel_shape"].ints = {1, kernel, kernel};
        pool.attributes["pads"].ints = {0, pad, pad, 0, pad, pad};
        graph.nodes = {pool};
        graph.outputs = {"y"};
        const auto converted = formats::onnx::convert(graph, "made.onnx");
        const auto& found = converted.diagnostics().items();
        CHECK(std::ranges::any_of(found, [](const Diagnostic& d) {
            return to_string(d).find("its window is too large") != std::string::npos;
        }));
    }
}

TEST_CASE("groups of a norm whose number exceeds 63 bits have no work") {
    OnnxGraph graph;
    graph.opset = 21;
    graph.inputs = {"x", "scale", "bias"};
    graph.input_types["x"] = {kFloat, std::vector<Dim>{{4, ""}, {8, ""}, {2, ""}}};
    graph.input_types["scale"] = graph.input_types["bias"] = {kFloat, std::vector<Dim>{{8, ""}}};
    OnnxNode norm = made("GroupNormalization", {"x", "scale", "bias"}, "y");
    norm.attributes["num_groups"].i = std::int64_t{1} << 62U;
    graph.nodes = {norm};
    graph.outputs = {"y"};
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    const auto& found = converted.diagnostics().items();
    CHECK(std::ranges::any_of(found, [](const Diagnostic& d) {
        return to_string(d).find("its groups do not divide the channels") != std::string::npos;
    }));
}

TEST_CASE("weights that pass through an identity stay weights") {
    OnnxGraph graph; // written without weights: they are inputs
    graph.opset = 17;
    graph.inputs = {"x", "fc.w"};
    graph.input_types["x"] = {kFloat, std::vector<Dim>{{2, ""}, {5, ""}, {8, ""}}};
    graph.input_types["fc.w"] = {kFloat, std::vector<Dim>{{8, ""}, {16, ""}}};
    graph.nodes = {made("Identity", {"fc.w"}, "same"), made("MatMul", {"x", "same"}, "y"),
                   made("MatMul", {"x", "fc.w"}, "z")};
    graph.outputs = {"y", "z"};
    const auto converted = formats::onnx::convert(graph, "made.onnx");
    REQUIRE(converted.ok());
    REQUIRE(converted->network.layers.size() == 2);
    for (const model::Layer& layer : converted->network.layers) {
        CHECK(layer.op == model::Op::gemm);
    }
    CHECK(totals_of(converted->network)->parameters == 8 * 16); // one matrix, counted once
}

} // namespace test_formats_onnx_values
