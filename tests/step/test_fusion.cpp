// Fusion: what is legal, what it saves; packing against its bounds.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/program/fusion.hpp"
#include "analysis/program/memory.hpp"
#include "analysis/step/launch_ways.hpp"
#include "analysis/step/packing.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>

namespace test_step_fusion {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
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
    Graph plain, fused;
    Costs plain_costs, fused_costs;
};
Pair fused_of(const std::string& name, bool training, const model::Gpu& gpu) {
    Pair pair;
    pair.plain = graph_of(name, training);
    pair.fused = fuse(pair.plain, 108);
    pair.plain_costs = tests::costs_on(pair.plain, gpu);
    pair.fused_costs = tests::costs_on(pair.fused, gpu);
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

TEST_CASE("convolutions and products keep kernels of their own: VGG-16 has nothing to fuse") {
    const Graph plain = graph_of("vgg16");
    const Graph fused = fuse(plain, 108);
    CHECK(fused.fused.empty());
    CHECK(fused.operators.size() == plain.operators.size());
}

TEST_CASE("in inference a norm, the sum and the relu behind it are one kernel of few bytes") {
    const Graph plain = graph_of("resnet50");
    const Graph fused = fuse(plain, 108);
    // 53 convolutions have a norm each: 49 relus and 16 sums join them, the last one's mean too.
    CHECK(fused.operators.size() == plain.operators.size() - 49 - 16 - 1);
    for (const auto& [layer, group] : fused.fused) {
        if (group.members.back().layer.op == model::Op::avgpool) {
            CHECK(group.members.size() == 4);
            continue;
        }
        const bool sums = group.members.size() == 3;
        CAPTURE(fused.layers[layer].name);
        CHECK(group.members.size() >= 2);
        // What the sum adds is the second tensor that comes from outside.
        const double tensor = static_cast<double>(group.written_bytes);
        CHECK(static_cast<double>(group.read_bytes) >= (sums ? 2.0 : 1.0) * tensor);
        CHECK(static_cast<double>(group.read_bytes) < (sums ? 2.1 : 1.1) * tensor);
    }
    CHECK(memory_of(fused).peak <= memory_of(plain).peak);
}

TEST_CASE("fused graphs keep every order, lose no operator and are never slower") {
    const model::Gpu gpu = catalog_gpu("a100-sxm-40gb");
    for (const char* name : {"resnet50", "bert-base:layers=3", "llama-3.2-1b:layers=2,new=64",
                             "qwen3-30b-a3b:layers=2,new=1,context=10", "vit-b-16:layers=2"}) {
        for (const bool training : {false, true}) {
            CAPTURE(name);
            const Pair pair = fused_of(name, training, gpu);
            check_reads(pair.fused);
            std::size_t members = 0;
            for (const Operator& op : pair.fused.operators) {
                const auto group = pair.fused.fused.find(op.layer);
                members += group == pair.fused.fused.end() ? 0 : group->second.members.size() - 1;
            }
            for (const auto& [layer, group] : pair.fused.fused) {
                double apart_s = 0.0;
                LayerCosts known(gpu, tests::usual_software());
                for (const FusedMember& member : group.members) {
                    apart_s += known.of(member.layer)->device_s;
                }
                CAPTURE(pair.fused.layers[layer].name);
                CHECK(pair.fused_costs.layers[layer].device_s < apart_s);
            }
            CHECK(pair.fused.operators.size() + members == pair.plain.operators.size());
            CHECK(kernels_of(pair.fused, pair.fused_costs) <
                  kernels_of(pair.plain, pair.plain_costs));
            CHECK(memory_of(pair.fused).peak <= memory_of(pair.plain).peak);
            // Compulsory bytes: what comes from outside and what is read later is still moved.
            std::set<TensorId> used;
            for (const Operator& op : pair.fused.operators) {
                for (const TensorId t : pair.fused.reads_of(op)) {
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
    for (const Operator& op : pair.fused.operators) {
        for (const TensorId t : pair.fused.writes_of(op)) {
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
    const Rewired rewired = with_attention(wired.network, wired.edges);
    CHECK(rewired.replaced == 24);
    GraphOptions options;
    options.training = analysis::TrainingOptions{"adam"};
    const auto plain = make_graph(wired.network, wired.edges, options);
    const auto fused = make_graph(rewired.network, rewired.edges, options);
    REQUIRE(fused.ok());
    // Six operators become one; so do their seven gradients (two of each product).
    CHECK(fused->operators.size() < plain->operators.size() - 24 * 8);
    const auto activations = [](const Graph& graph) {
        Count most = 0;
        for (const analysis::step::Bytes& at : memory_of(graph).at) {
            most = std::max(most, at[static_cast<std::size_t>(Role::activation)]);
        }
        return most;
    };
    CHECK(activations(*fused) < activations(*plain));
    CHECK(with_attention(tests::catalog_network("resnet50").network,
                         tests::catalog_network("resnet50").edges)
              .replaced == 0);
    CHECK(with_attention(tests::catalog_network("llama-3-8b").network,
                         tests::catalog_network("llama-3-8b").edges)
              .replaced == 32);
}

namespace {

// No packing ends before: the longest task, the mean load, and where there are more tasks than bins
// the two shortest of the bins + 1 longest, which share one.
double packing_bound(std::vector<double> times, std::size_t bins) {
    std::sort(times.begin(), times.end(), std::greater<>());
    const double mean =
        std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(bins);
    const double pair = times.size() > bins ? times[bins - 1] + times[bins] : 0.0;
    return std::max({times.front(), mean, pair});
}

} // namespace

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
    cost.device_s = 11e-6;
    cost.start_s = 1e-6; // which the one kernel has once
    cost.share = 0.5;
    costs.layers = {cost};
    model::Gpu gpu;
    gpu.sms = 100;
    const Persistent result = persistent(graph, costs, gpu, 2e-6);
    CHECK(result.levels == 2); // the first two side by side on half of the SMs each
    CHECK(result.time_s == near(2e-6 + 10e-6 + kBarrierS + 10e-6));
    CHECK(result.idle_s == near(5e-6)); // the third leaves half of the GPU idle
}

TEST_CASE("ways to launch: one kernel has a launch, and its tiles, barriers, and idle SMs add up") {
    const model::Gpu gpu = tests::catalog_gpu("v100-sxm2-16gb");
    const auto question = tests::catalog_question("alexnet", "v100-sxm2-16gb");
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    const Graph& graph = report->program;
    const Costs costs = tests::costs_on(graph, gpu);
    const TimelineOptions options = timeline_options(question, gpu);
    const LaunchWays found = launch_ways(graph, costs, gpu, options, false);
    REQUIRE(found.ways.size() == 4);
    CHECK(found.ways[0].launches == found.operators);
    CHECK(found.ways[3].launches == 1);
    CHECK(found.ways[0].step_s >= found.ways[1].step_s);
    CHECK(found.ways[1].step_s >= found.ways[2].step_s * (1.0 - 1e-12));
    const double launch_s =
        model::issue_seconds(options.host, model::Launch::stream, model::Issued::forward);
    CHECK(found.ways[3].step_s == near(launch_s + found.bound_s + found.idle_s + found.barriers_s));
    CHECK(found.bound_s + found.idle_s <= found.bound_s * 3.0); // a chain leaves SMs idle
    CHECK(launch_ways(graph, costs, gpu, options, true).ways.size() == 3);
}

} // namespace test_step_fusion
