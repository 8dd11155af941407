// Padding, pruning, streamed weights, recomputation on any graph.
#include "analysis/step/improve.hpp"
#include "analysis/step/padding.hpp"
#include "analysis/step/recompute_graph.hpp"
#include "analysis/step/streaming.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <algorithm>
#include <map>
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

// What runs again takes the place of what it made before: after the forward half nothing reads the
// first copy, which is free there.
void check_freed(const Graph& after) {
    std::map<std::pair<std::size_t, std::size_t>, OperatorId> first; // by layer and number
    std::set<TensorId> replaced;
    const auto forward = [](const Operator& op) { return op.kind == model::Issued::forward; };
    for (OperatorId i = 0; i < static_cast<OperatorId>(after.operators.size()); ++i) {
        const Operator& op = after.operators[i];
        const auto [at, is_first] = first.emplace(std::pair(op.layer, op.number), i);
        if (forward(op) && !is_first) {
            for (const TensorId t : after.writes_of(after.operators[at->second])) {
                replaced.insert(t);
            }
        }
    }
    CHECK_FALSE(replaced.empty());
    const auto late = std::find_if_not(after.operators.begin(), after.operators.end(), forward);
    for (auto op = late; op != after.operators.end(); ++op) {
        for (const TensorId t : after.reads_of(*op)) {
            REQUIRE(!replaced.contains(t));
        }
    }
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
        LayerCosts known(gpu, tests::usual_software());
        const Pruned pruned = prune(graph, known, Pruning::two_of_four, 1.0, sparse);
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
    LayerCosts known(volta, tests::usual_software());
    CHECK(prune(graph, known, Pruning::two_of_four, 1.0, costs).layers == 0);
    CHECK(costs.layers == before.layers);
}

TEST_CASE("one row at a time gains by bytes alone: 2:4 never more than 1 / 0.5625") {
    const Graph graph = products("1", "8192", "8192");
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-80gb");
    const Costs dense = tests::costs_on(graph, gpu);
    Costs sparse = dense;
    LayerCosts known(gpu, tests::usual_software());
    prune(graph, known, Pruning::two_of_four, 1.0, sparse);
    CHECK(dense.layers[0].device_s / sparse.layers[0].device_s <= 1.0 / 0.5625 * 1.1);
}

TEST_CASE("an odd size is padded where that is quicker, an even one is left") {
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-80gb");
    for (const char* n : {"4095", "4096"}) {
        const Graph graph = products("4096", n, n);
        Costs costs = tests::costs_on(graph, gpu);
        const double before = costs.layers[0].device_s;
        LayerCosts known(gpu, tests::usual_software());
        const Padded padded = pad(graph, known, costs);
        const bool odd = std::string(n) == "4095";
        CHECK(padded.layers == (odd ? 1U : 0U));
        CHECK(padded.added_bytes >= (odd ? 4095 * 2 : 0)); // one side longer, or both
        CHECK(padded.added_bytes <= (odd ? (4096 * 4096 - 4095 * 4095) * 2 : 0));
        CHECK((odd ? costs.layers[0].device_s < before : costs.layers[0].device_s == before));
    }
}

// Spans of operators that take so many seconds, one after the other.
Timeline line_of(const std::vector<double>& seconds) {
    Timeline line;
    for (const double took : seconds) {
        Span span;
        span.start_s = line.time_s;
        span.end_s = line.time_s += took;
        line.spans.push_back(span);
    }
    return line;
}

// Three products of one row each: fp32 weights of 4, 4, and 8 MB.
Graph three_products() {
    auto graph =
        tests::graph_from("layers:\n"
                          "  - {name: a, op: gemm, m: 1, n: 1000, k: 1000, dtype: fp32}\n"
                          "  - {name: b, op: gemm, m: 1, n: 1000, k: 1000, dtype: fp32}\n"
                          "  - {name: c, op: gemm, m: 1, n: 2000, k: 1000, dtype: fp32}\n");
    REQUIRE(graph.ok());
    return *std::move(graph);
}

TEST_CASE("weights come while the operator before runs, in two buffers") {
    const Graph graph = three_products();
    const Timeline line = line_of({1.0, 1.0, 1.0});
    const Memory memory = memory_of(graph);
    const Link link{4e6, 3.0}; // 4 MB take 1 s, and a copy 3 s to start: finer parts do not help
    // Room for the two largest, 8 and 4 MB, in place of all 16: everything streams whole.
    const Streamed whole =
        stream(graph, line, memory, Operand::weights, link, memory.peak - 4'000'000);
    // a: copied at 4, ends at 5. b: copied at 8, ends at 9. c, whose buffer was free at 5: copied
    // at 13, ends at 14.
    CHECK(whole.time_s == near(14.0));
    CHECK(whole.exposed_s() == near(11.0));
    CHECK(whole.memory.peak == memory.peak - 4'000'000);
    CHECK(whole.to_device == 16'000'000);
    CHECK(whole.to_host == 0);
    CHECK(whole.fits);
    // Work of 10, 0, and 1 s: a and c in parts of 4 MB, 4 s a copy, b stays. a: copied at 4, ends
    // at 14. c's first part is there at 8 and ends at 14.5; the second waits for a's buffer, is
    // copied at 18, and ends at 18.5.
    CHECK(stream(graph, line_of({10.0, 0.0, 1.0}), memory, Operand::weights, link,
                 memory.peak - 4'000'000)
              .time_s == near(18.5));
    // Nothing needs to leave, and nothing does.
    const Streamed none = stream(graph, line, memory, Operand::weights, link, memory.peak);
    CHECK(none.time_s == near(3.0));
    CHECK(none.streamed == 0);
    CHECK(none.memory == memory);
    // A link without end hides everything but nothing is faster than the step.
    CHECK(stream(graph, line, memory, Operand::weights, {1e15, 0.0}, memory.peak - 4'000'000)
              .time_s == near(3.0, 1e-6));
}

TEST_CASE(
    "a weight that leaves no room for two buffers is cut into parts that overlap its own work") {
    auto made = tests::graph_from(
        "layers:\n  - {name: p, op: gemm, m: 1, n: 8192, k: 8192, dtype: fp32}\n");
    REQUIRE(made.ok());
    const Graph& graph = *made;
    const Memory memory = memory_of(graph);
    const Count weight = Count{8192} * 8192 * 4;
    const Timeline line = line_of({8.0});
    const Link link{static_cast<double>(weight) / 8.0, 0.0}; // the copy takes as long as the work
    // Half of the weight: four parts, two of them there. Finer ones would cost more starts.
    const Streamed cut = stream(graph, line, memory, Operand::weights, {link.bytes_per_s, 0.5},
                                memory.peak - weight / 2);
    CHECK(cut.part == weight / 4);
    CHECK(cut.memory.peak == memory.peak - weight / 2);
    CHECK(cut.time_s == near(4 * 2.5 + 2.0)); // the copies, and the last part's work
    // Finer parts need less memory and expose less; below 1 MiB none are cut.
    const Streamed finest = stream(graph, line, memory, Operand::weights, link, 0);
    CHECK(finest.part == (Count{1} << 20));
    CHECK(finest.time_s == near(8.0 + 8.0 / 256.0));
    CHECK_FALSE(finest.fits);
    // What fits with whole parts is cut all the same where that exposes less.
    CHECK(stream(graph, line, memory, Operand::weights, link, memory.peak - 1).time_s < 8.5);
}

TEST_CASE("weights stream no slower than all copies and all work one after the other") {
    const Graph graph = tests::graph_of("gpt2");
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
    const Timeline line = simulate(graph, tests::costs_on(graph, gpu), gpu, TimelineOptions{});
    const Memory memory = memory_of(graph);
    Count weights = 0;
    for (const Tensor& tensor : graph.tensors) {
        weights += tensor.role == Role::weight ? tensor.bytes : 0;
    }
    double before = 0.0;
    for (const double share : {0.0, 0.2, 0.4, 0.6, 0.8}) {
        const auto limit = static_cast<Count>((1.0 - share) * static_cast<double>(memory.peak));
        const Streamed s = stream(graph, line, memory, Operand::weights, {1e10, 0.0}, limit);
        CAPTURE(share);
        CHECK(s.of <= weights); // small ones stay
        CHECK(static_cast<double>(s.of) > 0.99 * static_cast<double>(weights));
        CHECK(s.time_s >= line.time_s * (1 - 1e-12));
        CHECK(s.time_s >= static_cast<double>(s.to_device) / 1e10 * (1 - 1e-12));
        CHECK(s.time_s <= line.time_s + static_cast<double>(s.to_device) / 1e10 * (1 + 1e-9));
        CHECK(s.time_s >= before * (1 - 0.01)); // less memory is hardly ever faster
        CHECK(s.memory.peak <= memory.peak);
        before = s.time_s;
        double waited = 0.0;
        for (const auto& [op, wait_s] : s.waits) {
            waited += wait_s;
        }
        CHECK(waited == near(s.exposed_s(), 1e-6));
    }
}

TEST_CASE("activations leave behind their last reader and are back before their gradient") {
    for (const char* name : {"resnet50", "vgg16", "bert-base:layers=4", "gpt2"}) {
        CAPTURE(name);
        const Graph graph = tests::graph_of(name, true);
        const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
        const Timeline line = simulate(graph, tests::costs_on(graph, gpu), gpu, TimelineOptions{});
        const Memory memory = memory_of(graph);
        double slower = 0.0;
        for (const double share : {0.9, 0.7, 0.5}) {
            const auto limit = static_cast<Count>(share * static_cast<double>(memory.peak));
            const Streamed s =
                stream(graph, line, memory, Operand::activations, {2.5e10, 1e-5}, limit);
            CHECK(s.time_s >= line.time_s * (1 - 1e-12));
            CHECK(s.time_s <= line.time_s + 2.0 * (static_cast<double>(s.streamed) / 2.5e10 +
                                                   1e-5 * static_cast<double>(s.tensors)));
            CHECK(s.to_host == s.streamed);
            CHECK(s.to_device == s.streamed);
            CHECK(s.streamed <= s.of);
            CHECK(s.memory.peak <= memory.peak);
            CHECK(s.memory.peak + s.streamed >= memory.peak); // what leaves frees itself at most
            CHECK(s.fits == (s.memory.peak <= limit));
            const double fast =
                stream(graph, line, memory, Operand::activations, {1e18, 0.0}, limit).time_s;
            CHECK(fast == near(line.time_s, 1e-6)); // a link without end exposes nothing
            CHECK(s.time_s >= slower * (1 - 1e-9));
            slower = s.fits ? s.time_s : slower;
        }
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
        check_freed(found->graph);
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
