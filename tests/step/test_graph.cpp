// Operators and tensors: edges, what is refused, gradients.
#include "tests/step/step_fixture.hpp"

#include <algorithm>
#include <set>

namespace test_step_graph {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using tests::graph_from;
using tests::graph_of;

namespace {

const std::string kLayers = "name: tiny\nlayers:\n"
                            "  - {name: a, op: gemm, m: 4, n: 8, k: 2, count: 2}\n"
                            "  - {name: b, op: elementwise, rows: 4, cols: 8, fn: add}\n"
                            "  - {name: c, op: elementwise, rows: 4, cols: 8, fn: relu}\n";

std::string codes_of(const Diagnostics& found) {
    std::string codes;
    for (const auto& d : found) {
        codes += (codes.empty() ? "" : " ") + d.code + "@" + std::to_string(d.where.line);
    }
    return codes;
}

// Every operator reads only what was made before it, or was there from the start.
void check_order(const Graph& graph) {
    std::vector<bool> made(graph.tensors.size(), false);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
        made[t] = graph.tensors[t].producer == kNone;
    }
    for (const Operator& op : graph.operators) {
        for (const TensorId t : graph.reads_of(op)) {
            REQUIRE(made[t]);
        }
        for (const TensorId t : graph.writes_of(op)) {
            made[t] = true;
        }
    }
}

std::size_t runs(const Graph& graph, const std::string& layer) {
    return static_cast<std::size_t>(
        std::count_if(graph.operators.begin(), graph.operators.end(),
                      [&](const Operator& op) { return graph.layers[op.layer].name == layer; }));
}

} // namespace

TEST_CASE("tensors whose elements or bytes overflow are refused, whatever step makes them") {
    const std::string layer = "name: one\nlayers:\n"
                              "  - {name: c, op: elementwise, rows: 4, cols: 8, fn: relu}\n";
    const auto code = [&](const std::string& graph, Count batch, bool training = false) {
        GraphOptions options;
        options.batch = batch;
        if (training) {
            options.training = analysis::TrainingOptions{"adam"};
        }
        const auto made = graph_from(layer + graph, options);
        return made.ok() ? std::string("ok") : made.diagnostics().items()[0].code;
    };
    const std::string state = "graph:\n  - {state: past, elements: ELEMENTS}\n"
                              "  - {run: c, reads: input, output: true}\n";
    const auto with = [](std::string text, const char* elements) {
        return text.replace(text.find("ELEMENTS"), 8, elements);
    };
    CHECK(code(with(state, "1000"), 1) == "ok");
    CHECK(code(with(state, "1000000000000000"), 1'000'000) == "overflow");       // elements
    CHECK(code(with(state, "1000000000000000"), 8'000) == "overflow");           // bytes
    CHECK(code(with(state, "1000000000000000"), 1'000'000, true) == "overflow"); // and no gradients
    const std::string view = "graph:\n  - {state: past, elements: 1}\n"
                             "  - {view: wide, reads: past, elements: ELEMENTS, expand: true}\n"
                             "  - {run: c, reads: input, output: true}\n";
    CHECK(code(with(view, "1000"), 1) == "ok");
    CHECK(code(with(view, "1000000000000000"), 1'000'000) == "overflow");
    model::Network large; // 2^57 bytes of weights
    large.id = large.name = "large";
    large.layers.resize(1);
    large.layers.front().name = "gemm";
    large.layers.front().shape = model::GemmShape{1, 1, Count{1} << 28, Count{1} << 28};
    const auto made = make_graph(large, std::nullopt, {analysis::TrainingOptions{"adam"}});
    REQUIRE_FALSE(made.ok());
    CHECK(made.diagnostics().items()[0].code == "overflow");
}

TEST_CASE("a network without a graph is a chain, and says so") {
    const auto graph = graph_from(kLayers);
    REQUIRE(graph.ok());
    CHECK(graph->chain);
    CHECK(graph->operators.size() == 4);
    CHECK(graph->name_of(graph->operators[1]) == "a#2");
}

TEST_CASE("a graph says who reads whose output") {
    const auto graph = graph_from(kLayers + "graph:\n"
                                            "  - {run: a, reads: input, as: left}\n"
                                            "  - {run: a, reads: input, as: right}\n"
                                            "  - {run: [b, c], reads: [left, right]}\n");
    REQUIRE(graph.ok());
    CHECK(!graph->chain);
    const auto sum = graph->reads_of(graph->operators[2]);
    REQUIRE(sum.size() == 2);
    CHECK(graph->tensors[sum[0]].producer == 0);
    CHECK(graph->tensors[sum[1]].producer == 1);
    // Each run of a layer has weights of its own: 2 x 8 of two bytes, twice.
    Count weights = 0;
    for (const Tensor& t : graph->tensors) {
        weights += t.role == Role::weight ? t.bytes : 0;
    }
    CHECK(weights == 2 * 2 * 8 * 2);
}

TEST_CASE("the graph of another network is refused") {
    const auto network = graph_from(kLayers).value().layers;
    model::GraphEdges edges;
    edges.steps.resize(2);
    edges.places.resize(1);
    edges.names.resize(1);
    edges.steps[1].layer = 3;
    CHECK(codes_of(make_graph({{}, {}, {}, network}, edges).diagnostics()) == "wrong-edges@0");
    edges.steps[1].layer = 0;
    edges.steps[1].weights_of = 3;
    CHECK(codes_of(make_graph({{}, {}, {}, network}, edges).diagnostics()) == "wrong-edges@0");
}

TEST_CASE("bad graphs are named with their place") {
    const auto codes = [](const std::string& steps) {
        return codes_of(graph_from(kLayers + "graph:\n" + steps).diagnostics());
    };
    // The list begins on line 7.
    CHECK(codes("  - {run: a, reads: input, as: l}\n  - {run: a, reads: l, as: r}\n"
                "  - {run: [b, c], reads: [l, r]}\n") == "shape-mismatch@8");
    CHECK(codes("  - {run: a, reads: input, as: l}\n  - {run: a, reads: input, as: r}\n"
                "  - {run: b, reads: [l, l]}\n  - {run: c}\n") == "dangling-tensor@8");
    CHECK(codes("  - {run: a, reads: input, as: l}\n  - {run: a, reads: input, as: r}\n"
                "  - {run: b, reads: [l, s], as: t}\n  - {run: c, reads: t, as: s}\n") ==
          "graph-cycle@9");
    CHECK(codes("  - {run: b, reads: [l, r]}\n  - {run: a, reads: input, as: l}\n"
                "  - {run: a, reads: input, as: r}\n  - {run: c, reads: b}\n") ==
          "read-before-made@7");
    CHECK(codes("  - {run: a, reads: input, as: l}\n  - {run: a, reads: input, as: r}\n"
                "  - {run: [b, c], reads: [l, rr]}\n") == "unknown-tensor@9");
    CHECK(codes("  - {run: a, reads: input, as: l}\n  - {run: [b, c], reads: [l, l]}\n") ==
          "run-count@7");
    CHECK(codes("  - {run: aa, reads: input}\n") ==
          "run-count@7 run-count@7 run-count@7 unknown-layer@7");
    CHECK(
        codes("  - {repeat: 1000000, steps: [{repeat: 1000000, steps: [{view: v, reads: input}]}]}"
              "\n") == "too-many-steps@7");
}

TEST_CASE("a written graph reads back as the same") {
    for (const char* name : {"resnet50", "bert-base", "llama-3-8b", "qwen3-30b-a3b", "vit-b-16"}) {
        const auto wired = tests::catalog_network(name);
        REQUIRE(wired.edges);
        const std::string text = formats::write_network_yaml(wired.network) +
                                 formats::write_edges(*wired.edges, wired.network.layers);
        const auto again = formats::parse_network_yaml(text, "again.yaml");
        REQUIRE(again.ok());
        REQUIRE(again->edges);
        const auto first = make_graph(wired.network, wired.edges);
        const auto second = make_graph(again->network, again->edges);
        REQUIRE(first.ok());
        REQUIRE(second.ok());
        CHECK(first->operators == second->operators);
        CHECK(first->tensors == second->tensors);
    }
}

TEST_CASE("the catalog's graphs agree with their layers, in inference and in training") {
    for (const char* name : {"resnet18",
                             "resnet50",
                             "bert-large",
                             "bert-base:fused=1",
                             "bert-base:seq=7",
                             "bert-large:dropout=1,pretraining=1",
                             "bert-base:dropout=1,fused=1",
                             "gpt2",
                             "gpt2:layers=3",
                             "vit-h-14",
                             "vit-b-16:fused=1,batch=3",
                             "llama-3-8b",
                             "llama-3.2-1b:new=1,context=99",
                             "qwen3-8b:fused=1",
                             "mixtral-8x7b:new=5",
                             "qwen3-30b-a3b:new=1,context=10,batch=3",
                             "alexnet",
                             "nin",
                             "mobilenet-v1",
                             "googlenet",
                             "unet-medical",
                             "t5-small",
                             "gpt-3-6.7b:layers=2",
                             "opt-1.3b:fused=1,new=1,context=9"}) {
        CAPTURE(name);
        const Graph forward = graph_of(name);
        CHECK(!forward.chain);
        check_order(forward);
        const Graph training = graph_of(name, true);
        CHECK(training.operators.size() > 2 * forward.operators.size());
    }
}

TEST_CASE("gradients of a tensor that two operators read are summed once") {
    const Graph graph = graph_of("resnet18", true);
    // Each of the eight blocks reads x twice: the first convolution, and the sum or the projection.
    std::size_t sums = 0;
    for (const Operator& op : graph.operators) {
        sums += graph.layers[op.layer].name.ends_with(".gradient_sum") ? 1 : 0;
    }
    CHECK(sums == 8);
    CHECK(runs(graph, "conv1.bwd_data") == 0); // no one asks for the gradient of the image
    CHECK(runs(graph, "conv1.bwd_weight") == 1);
    CHECK(runs(graph, "conv2_1_add.bwd_data") == 0); // a sum hands its gradient on
}

TEST_CASE("a tied head shares the embedding's weights, and their update") {
    const Graph tied = graph_of("llama-3.2-1b:layers=2", true);
    const Graph untied = graph_of("llama-3.2-1b:layers=2,tied=0", true);
    const auto updates = [](const Graph& graph) {
        return std::count_if(graph.operators.begin(), graph.operators.end(),
                             [](const Operator& op) { return op.kind == model::Issued::update; });
    };
    CHECK(updates(untied) == updates(tied) + 1);
    // Of the words, which the first block reads twice; tied also of the table.
    CHECK(runs(untied, "embedding.gradient_sum") == 1);
    CHECK(runs(tied, "embedding.gradient_sum") == 2);
}

TEST_CASE("a network that is a training step itself is not trained again") {
    const auto wired = tests::catalog_network("mlp-2layer");
    GraphOptions options;
    options.training = analysis::TrainingOptions{};
    const auto graph = make_graph(wired.network, wired.edges, options);
    REQUIRE(!graph.ok());
    CHECK(graph.diagnostics().items().front().code == "not-forward");
}

TEST_CASE("decoders with experts decode a batch of any size") {
    for (const char* name : {"mixtral-8x7b", "mixtral-8x22b", "qwen3-30b-a3b", "qwen3-235b-a22b"}) {
        const auto wired = tests::catalog_network(std::string(name) + ":new=1,context=64");
        for (const Count batch : {1, 2, 5, 16, 64}) {
            CAPTURE(name);
            CAPTURE(batch);
            GraphOptions options;
            options.batch = batch;
            const auto grown = model::with_batch(wired.network, batch);
            REQUIRE(grown.ok());
            CHECK(make_graph(*grown, wired.edges, options).ok());
        }
    }
}

} // namespace test_step_graph
