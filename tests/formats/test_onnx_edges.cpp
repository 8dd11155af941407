// The edges of ONNX graphs: who reads whose output once nodes are layers.
#include "analysis/program/graph.hpp"
#include "formats/network_yaml.hpp"
#include "formats/onnx/convert.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace test_formats_onnx_edges {

using namespace eyeroof;
using analysis::step::Graph;
using formats::onnx::ConvertedModel;
using formats::onnx::Sizes;

namespace {

const std::filesystem::path kModels =
    std::filesystem::path(tests::source_dir()) / "tests/data/onnx";

struct Sized {
    std::string name;
    Sizes sizes;
};
const std::vector<Sized>& models() {
    static const std::vector<Sized> all = {
        {"resnet50", {{"batch", 1}}},
        {"mobilenet_v2", {}},
        {"efficientnet_b0", {}},
        {"bert_layer", {{"batch", 2}, {"seq", 64}}},
        {"bert_layer", {{"batch", 2}, {"seq", 64}, {"fused", 1}}},
        {"convolutions", {}},
        {"einsum", {}},
        {"norms", {}},
        {"quantised", {}},
        {"recurrent", {}},
        {"attention_op", {{"batch", 2}, {"past", 96}}},
        {"functions", {}},
        {"control_flow", {}},
    };
    return all;
}

ConvertedModel model_of(const Sized& sized) {
    auto converted = formats::onnx::load_onnx(kModels / (sized.name + ".onnx"), sized.sizes);
    for (const Diagnostic& d : converted.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(converted.ok());
    return *std::move(converted);
}

Graph graph_of(const ConvertedModel& model) {
    auto graph = analysis::step::make_graph(model.network, model.edges);
    for (const Diagnostic& d : graph.diagnostics()) {
        FAIL_CHECK(to_string(d));
    }
    REQUIRE(graph.ok());
    return *std::move(graph);
}

// Names of the operators whose results an operator reads.
std::set<std::string> makers(const Graph& graph, const std::string& of) {
    std::set<std::string> names;
    for (const auto& op : graph.operators) {
        if (graph.name_of(op) != of) {
            continue;
        }
        for (const auto t : graph.reads_of(op)) {
            const auto producer = graph.tensors[t].producer;
            if (producer != analysis::step::kNone) {
                names.insert(graph.name_of(graph.operators[producer]));
            }
        }
    }
    return names;
}

} // namespace

TEST_CASE("every ONNX graph becomes a step whose tensors agree with its layers") {
    for (const Sized& sized : models()) {
        CAPTURE(sized.name);
        const ConvertedModel model = model_of(sized);
        REQUIRE(model.edges.has_value());
        const Graph graph = graph_of(model);
        Count runs = 0;
        for (const model::Layer& layer : model.network.layers) {
            runs += layer.count;
        }
        CHECK_FALSE(graph.chain);
        CHECK(static_cast<Count>(graph.operators.size()) == runs);
    }
}

TEST_CASE("a residual block's sum reads the block's end and what the block read") {
    const ConvertedModel model = model_of({"resnet50", {{"batch", 1}}});
    const Graph graph = graph_of(model);
    // The first sum joins the third convolution's norm and that of the convolution beside it; the
    // second one the next block's norm and the first sum's relu.
    std::vector<std::string> sums;
    for (const auto& op : graph.operators) {
        const auto* e = std::get_if<model::ElementwiseShape>(&graph.layers[op.layer].shape);
        if (e != nullptr && e->fn == "add") {
            sums.push_back(graph.name_of(op));
        }
    }
    REQUIRE(sums.size() == 16);
    for (const std::string& sum : sums) {
        CHECK_MESSAGE(makers(graph, sum).size() == 2, sum);
    }
    const auto second = makers(graph, sums[1]);
    CHECK(std::any_of(second.begin(), second.end(), [&](const std::string& name) {
        return makers(graph, name) == std::set<std::string>{sums[0]};
    }));
}

TEST_CASE("the network is given its image once, and what nobody reads is its output") {
    const Graph graph = graph_of(model_of({"resnet50", {{"batch", 2}}}));
    Count input = 0;
    int outputs = 0;
    for (const auto& tensor : graph.tensors) {
        input += tensor.role == analysis::step::Role::input ? tensor.bytes : 0;
        outputs += tensor.output ? 1 : 0;
    }
    CHECK(input == 2 * 3 * 224 * 224 * 4);
    CHECK(outputs == 1);
}

TEST_CASE("a converted model written as YAML reads back with the same edges") {
    for (const Sized& sized : models()) {
        CAPTURE(sized.name);
        const ConvertedModel model = model_of(sized);
        const std::string yaml = formats::write_network_yaml(model.network) +
                                 formats::write_edges(*model.edges, model.network.layers);
        auto back = formats::parse_network_yaml(yaml, "back.yaml");
        for (const Diagnostic& d : back.diagnostics()) {
            CHECK_MESSAGE(d.code == "not-costed", to_string(d));
        }
        REQUIRE(back.ok());
        CHECK(back->network.uncosted == model.network.uncosted);
        CHECK(back->network.operators == model.network.operators);
        REQUIRE(back->edges.has_value());
        auto told = back->edges->steps; // places are the file's lines
        auto own = model.edges->steps;
        for (auto* steps : {&told, &own}) {
            for (auto& step : *steps) {
                step.place = 0;
            }
        }
        CHECK(told == own);
    }
}

} // namespace test_formats_onnx_edges
