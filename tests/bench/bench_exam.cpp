// How long an examination takes: one layer's chain for a given mapping, and whole networks.
#include "analysis/exam/run.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/eyexam/examine.hpp"
#include "tests/paths.hpp"

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace eyeroof;

model::Machine machine(const std::string& name) {
    const std::vector<std::filesystem::path> folders = {
        std::filesystem::path(eyeroof::tests::source_dir()) / "hwdb"};
    return hwdb::load_machine(name, folders).value();
}

model::Network network(const std::string& name) {
    return formats::load_network(
               name, {std::filesystem::path(eyeroof::tests::source_dir()) / "examples/networks"})
        .value();
}

// A nest with the mapping that the machine's dataflow gives it.
struct Mapped {
    model::Problem problem;
    model::Mapping mapping;
};

std::vector<Mapped> mapped_nests(const model::Network& net, const model::Machine& on) {
    std::vector<Mapped> nests;
    const analysis::Report report = analysis::run(net, on).value();
    for (const analysis::LayerReport& layer : report.layers) {
        const auto problems = model::problems_of(layer.layer).value();
        for (std::size_t i = 0; i < layer.mappings.size(); ++i) {
            nests.push_back({problems[i], layer.mappings[i]});
        }
    }
    return nests;
}

model::Chain chain_of(const Mapped& nest, const model::Accelerator& accelerator) {
    const model::Dataflow& dataflow = accelerator.dataflows.front();
    const auto cost = model::cost_of(nest.problem, accelerator, nest.mapping);
    const auto latency = model::latency_of(nest.problem, accelerator, nest.mapping, *cost);
    return model::mapping_chain(nest.problem, accelerator, dataflow, nest.mapping, *cost, latency);
}

// Cost, latency and the mapping's seven steps of one layer: target 10 us.
void layer_chain(benchmark::State& state, const std::string& net, std::size_t index) {
    const model::Machine eyeriss = machine("eyeriss-v1");
    const auto& accelerator = std::get<model::Accelerator>(eyeriss.kind);
    const Mapped nest = mapped_nests(network(net), eyeriss).at(index);
    for (auto _ : state) {
        benchmark::DoNotOptimize(chain_of(nest, accelerator));
    }
}
BENCHMARK_CAPTURE(layer_chain, alexnet_conv2, "alexnet", 1)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(layer_chain, resnet50_first, "resnet50", 0)->Unit(benchmark::kMicrosecond);

// The same for every layer of a network whose mappings are known: target 1 ms for ResNet-50.
void network_chains(benchmark::State& state, const std::string& net) {
    const model::Machine eyeriss = machine("eyeriss-v1");
    const auto& accelerator = std::get<model::Accelerator>(eyeriss.kind);
    const auto nests = mapped_nests(network(net), eyeriss);
    for (auto _ : state) {
        for (const Mapped& nest : nests) {
            benchmark::DoNotOptimize(chain_of(nest, accelerator));
        }
    }
    state.counters["layers"] = static_cast<double>(nests.size());
}
BENCHMARK_CAPTURE(network_chains, resnet50, "resnet50")->Unit(benchmark::kMillisecond);

// The whole facade: the dataflow's own mapping is found, both chains, traffic, totals, losses.
void whole_exam(benchmark::State& state, const std::string& net, const std::string& on) {
    const model::Machine chosen = machine(on);
    const model::Network layers = network(net);
    for (auto _ : state) {
        benchmark::DoNotOptimize(analysis::run(layers, chosen));
    }
}
BENCHMARK_CAPTURE(whole_exam, alexnet_eyeriss, "alexnet", "eyeriss-v1")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_exam, resnet50_eyeriss, "resnet50", "eyeriss-v1")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(whole_exam, resnet50_systolic, "resnet50", "systolic:32x32")
    ->Unit(benchmark::kMillisecond);

} // namespace
