// Fusion: what is legal, what it saves; packing against its bounds.
#include "study/step/fusion.hpp"
#include "study/step/memory.hpp"
#include "study/step/packing.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

namespace test_step_fusion {

using namespace eyeroof;
using namespace eyeroof::study::step;
using eyeroof::tests::near;
using tests::catalog_gpu;
using tests::graph_of;

namespace {

// Whatever reads a tensor finds it written, and by the same last writer's layer as before.
void check_reads(const Graph& graph) {
    std::vector<bool> made(graph.tensors.size(), false);
    for (std::size_t t = 0; t < graph.tensors.size(); ++t) {
        made[t] = graph.tensors[t].role == Role::weight || graph.tensors[t].role == Role::input ||
                  graph.tensors[t].role == Role::state || graph.tensors[t].role == Role::optimizer;
    }
    std::set<TensorId> written;
    for (const Operator& op : graph.operators) {
        for (const TensorId t : graph.writes_of(op)) {
            written.insert(t);
        }
    }
    for (const Operator& op : graph.operators) {
        for (const TensorId t : graph.reads_of(op)) {
            REQUIRE((made[t] || !written.contains(t))); // a loss's gradient comes from outside
        }
        for (const TensorId t : graph.writes_of(op)) {
            made[t] = true;
        }
    }
}

struct Pair {
    Graph plain;
    Costs costs;
    Fused fused;
};
Pair fused_of(const std::string& name, bool training, const model::Gpu& gpu) {
    Pair pair{graph_of(name, training), {}, {}};
    const auto costs = costs_of(pair.plain, gpu, model::Launch::stream);
    REQUIRE(costs.ok());
    pair.costs = *costs;
    pair.fused = fuse(pair.plain, pair.costs, gpu);
    return pair;
}

double kernels_of(const Graph& graph, const Costs& costs) {
    double sum = 0.0;
    for (const Operator& op : graph.operators) {
        sum += costs.layers[op.layer].device_s;
    }
    return sum;
}

} // namespace

TEST_CASE("a relu joins the convolution before it, and the tensor between them is gone") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    const Pair pair = fused_of("vgg16", false, gpu);
    CHECK(pair.plain.operators.size() == 37);
    CHECK(pair.fused.graph.operators.size() == 37 - 15); // 13 convolutions and 2 layers have one
    CHECK(pair.fused.saved.launches == 15);
    CHECK(memory_of(pair.fused.graph).peak <= memory_of(pair.plain).peak);
    // What is saved is told in full.
    const double saved =
        kernels_of(pair.plain, pair.costs) - kernels_of(pair.fused.graph, pair.fused.costs);
    CHECK(pair.fused.saved.traffic_s + pair.fused.saved.scheduling_s == near(saved));
}

TEST_CASE("fused graphs keep every order, lose no operator and are never slower") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    for (const char* name : {"resnet50", "bert-base:layers=3", "llama-3.2-1b:layers=2,new=64",
                             "qwen3-30b-a3b:layers=2,new=1,context=10", "vit-b-16:layers=2"}) {
        for (const bool training : {false, true}) {
            CAPTURE(name);
            const Pair pair = fused_of(name, training, gpu);
            check_reads(pair.fused.graph);
            std::size_t members = 0;
            for (const FusedGroup& group : pair.fused.groups) {
                CHECK(group.after_s < group.before_s);
                members += (group.operators - 1) * group.runs;
            }
            CHECK(pair.fused.graph.operators.size() + members == pair.plain.operators.size());
            CHECK(pair.fused.saved.launches == members);
            CHECK(kernels_of(pair.fused.graph, pair.fused.costs) <
                  kernels_of(pair.plain, pair.costs));
            CHECK(memory_of(pair.fused.graph).peak <= memory_of(pair.plain).peak);
            // Compulsory bytes: what comes from outside and what is read later is still moved.
            std::set<TensorId> used;
            for (const Operator& op : pair.fused.graph.operators) {
                for (const TensorId t : pair.fused.graph.reads_of(op)) {
                    used.insert(t);
                }
            }
            for (TensorId t = 0; t < pair.plain.tensors.size(); ++t) {
                const Role role = pair.plain.tensors[t].role;
                const bool outside = role == Role::weight || role == Role::input;
                bool read = false;
                for (const Operator& op : pair.plain.operators) {
                    const auto reads = pair.plain.reads_of(op);
                    read = read || std::count(reads.begin(), reads.end(), t) > 0;
                }
                CHECK((!outside || !read || used.contains(t)));
            }
        }
    }
}

TEST_CASE("what is kept for a gradient is still written when its maker fuses") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    const Pair pair = fused_of("bert-base:layers=2", true, gpu);
    std::set<TensorId> written;
    for (const Operator& op : pair.fused.graph.operators) {
        for (const TensorId t : pair.fused.graph.writes_of(op)) {
            written.insert(t);
        }
    }
    const auto lives = lifetimes_of(pair.plain);
    std::size_t last_forward = 0;
    for (std::size_t i = 0; i < pair.plain.operators.size(); ++i) {
        last_forward = pair.plain.operators[i].kind == model::Issued::forward ? i : last_forward;
    }
    for (TensorId t = 0; t < pair.plain.tensors.size(); ++t) {
        const bool kept =
            pair.plain.tensors[t].role == Role::activation && lives[t].last > last_forward;
        CHECK((!kept || written.contains(t)));
    }
}

TEST_CASE("attention written out becomes one kernel, forward and backward, and keeps no scores") {
    const auto wired = tests::catalog_network("bert-large:dropout=1");
    const Rewired rewired = with_attention(wired.network, wired.wiring);
    CHECK(rewired.replaced == 24);
    GraphOptions options;
    options.training = study::TrainingOptions{"adam"};
    const auto plain = make_graph(wired.network, wired.wiring, options);
    const auto fused = make_graph(rewired.network, rewired.wiring, options);
    REQUIRE(fused.ok());
    // Six operators become one; so do their seven gradients (two of each product).
    CHECK(fused->operators.size() < plain->operators.size() - 24 * 8);
    const auto activations = [](const Graph& graph) {
        model::Count most = 0;
        for (const Bytes& at : memory_of(graph).at) {
            most = std::max(most, at[static_cast<std::size_t>(Role::activation)]);
        }
        return most;
    };
    CHECK(activations(*fused) < activations(*plain));
    CHECK(with_attention(tests::catalog_network("resnet50").network,
                         tests::catalog_network("resnet50").wiring)
              .replaced == 0);
    CHECK(with_attention(tests::catalog_network("llama-3-8b").network,
                         tests::catalog_network("llama-3-8b").wiring)
              .replaced == 32);
}

TEST_CASE("packing is within 4/3 of a lower bound on 1000 random cases, and never below it") {
    std::mt19937 random(3);
    double worst = 0.0;
    for (int round = 0; round < 1000; ++round) {
        const std::size_t bins = 1 + random() % 40;
        std::vector<double> times(1 + random() % 200);
        for (double& time : times) {
            time = std::uniform_real_distribution<double>(0.01, 1.0)(random);
        }
        const Packing packing = pack(times, bins);
        std::vector<double> load(bins, 0.0);
        for (std::size_t i = 0; i < times.size(); ++i) {
            REQUIRE(packing.bin_of[i] < bins);
            load[packing.bin_of[i]] += times[i];
        }
        CHECK(*std::max_element(load.begin(), load.end()) == near(packing.end_s));
        const double bound = packing_bound(times, bins);
        CHECK(packing.end_s >= bound * (1.0 - 1e-12));
        CHECK(packing.end_s <= bound * 4.0 / 3.0);
        worst = std::max(worst, packing.end_s / bound);
    }
    CHECK(worst > 1.0); // a bound that nothing misses would say nothing
}

TEST_CASE("a persistent kernel pays a barrier between dependants and packs what is independent") {
    Graph graph;
    graph.layers.resize(1);
    graph.tensors = {{Role::input, 8},
                     {Role::activation, 8, 0},
                     {Role::activation, 8, 1},
                     {Role::activation, 8, 2}};
    graph.operands = {0, 1, 0, 2, 1, 2, 3};
    graph.operators = {{0, 0, model::Issued::forward, kNone, 0, 1, 1, 1},
                       {0, 1, model::Issued::forward, kNone, 2, 1, 3, 1},
                       {0, 2, model::Issued::forward, kNone, 4, 2, 6, 1}};
    Costs costs;
    LayerCost cost;
    cost.device_s = 10e-6;
    cost.share = 0.5;
    costs.layers = {cost};
    model::Gpu gpu;
    gpu.sms = 100;
    const Persistent result = persistent(graph, costs, gpu, 2e-6);
    CHECK(result.levels == 2); // the first two side by side on half of the SMs each
    CHECK(result.time_s == near(2e-6 + 10e-6 + kBarrierS + 10e-6));
    CHECK(result.idle_s == near(5e-6)); // the third leaves half of the GPU idle
}

} // namespace test_step_fusion
