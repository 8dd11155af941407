// Padding, pruning, streamed weights, recomputation on any graph.
#include "analysis/step/improve.hpp"
#include "analysis/step/padding.hpp"
#include "analysis/step/recompute_graph.hpp"
#include "analysis/step/streaming.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <algorithm>
#include <random>
#include <set>

namespace test_step_remedies {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using tests::near;

namespace {

Graph products(const std::string& m, const std::string& n, const std::string& k) {
    auto graph = tests::graph_from("layers:\n  - {name: p, op: gemm, m: " + m + ", n: " + n +
                                   ", k: " + k + ", dtype: fp16}\n");
    REQUIRE(graph.ok());
    return *std::move(graph);
}

// Every read was written before, or was there; every operator of the old graph runs once, in order.
void check_order(const Graph& before, const Graph& after) {
    std::vector<bool> there(after.tensors.size(), false);
    for (std::size_t t = 0; t < after.tensors.size(); ++t) {
        const Role role = after.tensors[t].role; // weights are written by their update
        there[t] = after.tensors[t].producer == kNone || role == Role::weight ||
                   role == Role::optimizer || role == Role::state;
    }
    std::size_t next = 0;
    for (const Operator& op : after.operators) {
        for (const TensorId t : after.reads_of(op)) {
            REQUIRE(there[t]);
        }
        for (const TensorId t : after.writes_of(op)) {
            there[t] = true;
        }
        const bool old =
            next < before.operators.size() && op.layer == before.operators[next].layer &&
            op.number == before.operators[next].number && op.kind == before.operators[next].kind;
        next += old ? 1 : 0;
    }
    CHECK(next == before.operators.size());
}

} // namespace

TEST_CASE("2:4 leaves half of the weights and two bits a kept one, and skips half of the depth") {
    CHECK(bytes_left(Pruning::two_of_four, 1.0, model::DataType::fp16) == near(0.5625));
    CHECK(bytes_left(Pruning::two_of_four, 1.0, model::DataType::int8) == near(0.625));
    CHECK(bytes_left(Pruning::blocks, 0.25, model::DataType::fp16) ==
          near(0.25 * (1.0 + 32.0 / (16.0 * 4096.0))));
    CHECK(depth_left(Pruning::two_of_four, 1.0, 4096, 4096) == near(0.5));
    CHECK(depth_left(Pruning::blocks, 0.25, 4096, 4096) > 0.25);
    CHECK(depth_left(Pruning::blocks, 0.25, 4096, 4096) < 0.5);
    CHECK(depth_left(Pruning::blocks, 1.0, 4096, 4096) == near(1.0));
    CHECK(pruning_steps(Pruning::two_of_four, 1.0) == 5);
    CHECK(pruning_steps(Pruning::blocks, 0.25) == 8);
}

TEST_CASE("a large product gains from 2:4 less than its peak, a card before Ampere nothing") {
    const Graph graph = products("4096", "4096", "4096");
    for (const char* name : {"a100-sxm-80gb", "h100-sxm-80gb", "rtx-4090"}) {
        const model::Gpu gpu = tests::catalog_gpu(name);
        const Costs dense = tests::costs_on(graph, gpu);
        Costs sparse = dense;
        const Pruned pruned =
            prune(graph, gpu, tests::usual_software(), Pruning::two_of_four, 1.0, sparse);
        CHECK(pruned.layers == 1);
        CHECK(pruned.saved_bytes == Count(4096 * 4096 * 2 * 0.4375));
        const double gain = dense.layers[0].device_s / sparse.layers[0].device_s;
        CHECK(gain > 1.3);
        CHECK(gain < 2.0);
        CHECK(sparse.layers[0].high_s == near(dense.layers[0].high_s));
    }
    const model::Gpu volta = tests::catalog_gpu("v100-sxm2-16gb");
    Costs costs = tests::costs_on(graph, volta);
    const Costs before = costs;
    CHECK(prune(graph, volta, tests::usual_software(), Pruning::two_of_four, 1.0, costs).layers ==
          0);
    CHECK(costs.layers == before.layers);
}

TEST_CASE("one row at a time gains by bytes alone: 2:4 never more than 1 / 0.5625") {
    const Graph graph = products("1", "8192", "8192");
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-80gb");
    const Costs dense = tests::costs_on(graph, gpu);
    Costs sparse = dense;
    prune(graph, gpu, tests::usual_software(), Pruning::two_of_four, 1.0, sparse);
    CHECK(dense.layers[0].device_s / sparse.layers[0].device_s <= 1.0 / 0.5625 * 1.1);
}

TEST_CASE("an odd size is padded where that is quicker, an even one is left") {
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-80gb");
    for (const char* n : {"4095", "4096"}) {
        const Graph graph = products("4096", n, n);
        Costs costs = tests::costs_on(graph, gpu);
        const double before = costs.layers[0].device_s;
        const Padded padded = pad(graph, gpu, tests::usual_software(), costs);
        const bool odd = std::string(n) == "4095";
        CHECK(padded.layers == (odd ? 1U : 0U));
        CHECK(padded.added_bytes >= (odd ? 4095 * 2 : 0)); // one side longer, or both
        CHECK(padded.added_bytes <= (odd ? (4096 * 4096 - 4095 * 4095) * 2 : 0));
        CHECK((odd ? costs.layers[0].device_s < before : costs.layers[0].device_s == before));
    }
}

TEST_CASE("streamed weights never beat the copies nor the step, and buffers are two operators'") {
    const Graph graph = tests::graph_of("gpt2");
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
    const Timeline line = simulate(graph, tests::costs_on(graph, gpu), gpu, TimelineOptions{});
    std::vector<Count> of_operators;
    for (const Operator& op : graph.operators) {
        Count bytes = 0;
        for (const TensorId id : graph.reads_of(op)) {
            bytes += graph.tensors[id].role == Role::weight ? graph.tensors[id].bytes : 0;
        }
        of_operators.push_back(bytes);
    }
    std::sort(of_operators.rbegin(), of_operators.rend());
    for (const double rate : {1e9, 1e10, 1e12, 1e15}) {
        const Streamed streamed = stream_weights(graph, line, rate);
        CHECK(streamed.time_s >= line.time_s * (1 - 1e-12));
        CHECK(streamed.time_s >= static_cast<double>(streamed.weights) / rate * (1 - 1e-12));
        CHECK(streamed.time_s <= line.time_s + 1.2 * static_cast<double>(streamed.weights) / rate);
        CHECK(streamed.buffers == of_operators[0] + of_operators[1]);
    }
}

TEST_CASE("operators that run again keep every order, and the peak between its floor and before") {
    for (const char* name : {"resnet50", "bert-base:layers=4", "llama-3.2-1b:layers=3", "vgg16"}) {
        CAPTURE(name);
        const Graph graph = tests::graph_of(name, true);
        const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
        const Costs costs = tests::costs_on(graph, gpu);
        const Count before = memory_of(graph).peak;
        const auto found = recompute_cheapest(graph, costs, {}, 0, 0.0);
        REQUIRE(found);
        check_order(graph, found->graph);
        CHECK(found->peak == memory_of(found->graph).peak);
        CHECK(found->peak <= before);
        CHECK(found->peak >= found->floor);
        CHECK(found->graph.operators.size() == graph.operators.size() + found->again);
        // Half of what could go takes no more than what all takes.
        const auto half = recompute_cheapest(graph, costs, {}, (before + found->peak) / 2, 0.0);
        REQUIRE(half);
        CHECK(half->added_s <= found->added_s);
        CHECK(half->peak <= (before + found->peak) / 2);
    }
    CHECK(!recompute_cheapest(tests::graph_of("resnet18"), Costs{}, {}, 0, 0.0));
}

} // namespace test_step_remedies
