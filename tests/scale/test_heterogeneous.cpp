// Networks over devices that differ: chains against every possible division, and a catalog's
// networks.
#include "analysis/scale/heterogeneous.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/fabric_reader.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/scale/split_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

namespace test_scale_heterogeneous {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using namespace eyeroof::report;
using tests::near;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const std::vector<std::filesystem::path> kHwdb = {std::filesystem::path(tests::source_dir()) /
                                                  "hwdb"};

// The least slowest stage over every order of devices and every cut, layer by layer.
double brute(const HeterogeneousChain& chain, std::size_t first, unsigned used) {
    const std::size_t n = chain.layer_s.front().size();
    if (first == n) {
        return 0.0;
    }
    double best = kInfinity;
    for (std::size_t d = 0; d < chain.layer_s.size(); ++d) {
        if ((used >> d & 1U) != 0) {
            continue;
        }
        double time = first > 0 ? chain.cut_s[first - 1] : 0.0;
        double held = 0.0;
        double live = 0.0;
        for (std::size_t end = first + 1; end <= n; ++end) {
            time += chain.layer_s[d][end - 1];
            held += chain.held_bytes[end - 1];
            live = std::max(live, chain.live_bytes[d][end - 1]);
            const double entry = chain.entry_bytes.empty() ? 0.0 : chain.entry_bytes[first];
            if (chain.capacity_bytes[d] > 0.0 && held + live + entry > chain.capacity_bytes[d]) {
                break;
            }
            best = std::min(best, std::max(time, brute(chain, end, used | 1U << d)));
        }
    }
    return best;
}

HeterogeneousChain random_chain(std::mt19937& random) {
    const auto number = [&] { return 0.01 + static_cast<double>(random() % 1000) / 100.0; };
    const std::size_t layers = 1 + random() % 7;
    const std::size_t devices = 1 + random() % 4;
    HeterogeneousChain chain;
    chain.layer_s.assign(devices, {});
    chain.live_bytes.assign(devices, std::vector<double>(layers));
    for (auto& row : chain.live_bytes) {
        for (double& bytes : row) {
            bytes = random() % 3 == 0 ? 2.0 * number() : 0.1 * number();
        }
    }
    for (auto& row : chain.layer_s) {
        for (std::size_t l = 0; l < layers; ++l) {
            row.push_back(number());
        }
        chain.capacity_bytes.push_back(random() % 3 == 0 ? 0.0 : 4.0 * number());
    }
    for (std::size_t l = 0; l < layers; ++l) {
        chain.held_bytes.push_back(number());
        chain.cut_s.push_back(random() % 2 == 0 ? 0.0 : number());
    }
    chain.cut_s.pop_back();
    if (random() % 2 == 0) {
        for (std::size_t l = 0; l < layers; ++l) {
            chain.entry_bytes.push_back(random() % 2 == 0 ? 0.0 : number());
        }
    }
    return chain;
}

analysis::step::Graph graph_of(const char* name, Count batch) {
    const auto network = formats::load_wired_network(
        name, {std::filesystem::path(tests::source_dir()) / "examples" / "networks"});
    REQUIRE(network.ok());
    const auto many = model::with_batch(network->network, batch);
    REQUIRE(many.ok());
    analysis::step::GraphOptions options;
    options.batch = batch;
    const auto graph = analysis::step::make_graph(*many, network->edges, options);
    REQUIRE(graph.ok());
    return *graph;
}

HeterogeneousDevice device(const char* name) {
    const auto machine = hwdb::load_machine(name, kHwdb);
    REQUIRE(machine.ok());
    return {name, std::get<model::Gpu>(machine->kind)};
}

} // namespace

TEST_CASE("a chain over unlike devices is divided as well as by trying everything") {
    std::mt19937 random(7);
    int none = 0;
    for (int i = 0; i < 300; ++i) {
        CAPTURE(i);
        const HeterogeneousChain chain = random_chain(random);
        const double least = brute(chain, 0, 0U);
        const auto stages = split_heterogeneous(chain);
        CHECK(stages.empty() == (least == kInfinity));
        none += stages.empty() ? 1 : 0;
        if (!stages.empty()) {
            CHECK(slowest_of(stages) == near(least, 1e-8));
            CHECK(stages.front().first == 0);
            CHECK(stages.back().end == chain.layer_s.front().size());
            for (const HeterogeneousStage& stage : stages) {
                const double room = chain.capacity_bytes[stage.device];
                CHECK((room == 0.0 || stage.memory_bytes <= room));
            }
        }
    }
    CHECK(none > 10);
    CHECK(none < 200);
}

TEST_CASE("a device twice as quick takes twice as many equal layers") {
    HeterogeneousChain chain;
    chain.layer_s = {std::vector<double>(9, 2.0), std::vector<double>(9, 1.0)};
    chain.cut_s.assign(8, 0.0);
    const auto stages = split_heterogeneous(chain);
    REQUIRE(stages.size() == 2);
    CHECK(slowest_of(stages) == near(6.0, 1e-8));
    for (const HeterogeneousStage& stage : stages) {
        CHECK(stage.end - stage.first == (stage.device == 0 ? 3 : 6));
    }
}

TEST_CASE("a network over two GPUs is never slower than on one, and its document has its schema") {
    const analysis::step::Graph graph = graph_of("googlenet", 16);
    HeterogeneousOptions options;
    options.nodes = 2'000;
    const auto answer =
        split_network(graph, {device("v100-sxm2-16gb"), device("a100-sxm-40gb")}, options);
    REQUIRE(answer.ok());
    CHECK(answer->best.time_s <= answer->listed.time_s);
    REQUIRE(std::any_of(answer->devices.begin(), answer->devices.end(),
                        [](const auto& device) { return device.holds_all; }));
    for (const auto& device : answer->devices) {
        CHECK((!device.holds_all || answer->best.time_s <= device.alone_s));
    }
    CHECK(answer->best.bound_s <= answer->best.time_s);
    REQUIRE(answer->pipeline_gain().has_value());
    CHECK(*answer->pipeline_gain() >= 1.0 - 1e-9);
    CHECK(*answer->pipeline_gain() <= 2.0); // two devices, the better counted twice
    std::size_t operators = 0;
    for (const HeterogeneousDeviceShare& share : answer->devices) {
        operators += share.operators;
    }
    CHECK(operators == graph.operators.size());
    tests::SchemaCheck schema(nlohmann::json::parse(schema_of("split")));
    CHECK(schema.faults(nlohmann::json::parse(to_json(split_answer(*answer)))) ==
          std::vector<std::string>{});
}

TEST_CASE("weights that no device holds alone are told, and divided where all together hold them") {
    const analysis::step::Graph graph = graph_of("llama-2-13b", 1); // 26 GB
    HeterogeneousOptions options;
    options.nodes = 100;
    const auto pair = split_network(graph, {device("rtx-4090"), device("rtx-3090")}, options);
    REQUIRE(pair.ok());
    CHECK(std::none_of(pair->devices.begin(), pair->devices.end(),
                       [](const auto& device) { return device.holds_all; }));
    CHECK(pair->stages.size() == 2);
    for (std::size_t i = 0; i < pair->stages.size(); ++i) {
        CHECK(pair->stages[i].time_s > 0.0);
    }
    CHECK(to_text(split_answer(*pair), 200).find("no device alone holds the network") !=
          std::string::npos);
    const auto small = split_network(graph, {device("t4"), device("v100-sxm2-16gb")}, options);
    REQUIRE(small.ok()); // 32 GB hold 26
    CHECK(small->stages.size() == 2);
    const auto large =
        split_network(graph_of("llama-2-70b", 1), {device("t4"), device("t4")}, options);
    REQUIRE(large.ok());
    CHECK(large->stages.empty());
    CHECK(to_text(split_answer(*large), 200).find("fits in no division") != std::string::npos);
}

TEST_CASE("activations count against a device's memory, as `eyeroof memory` counts them") {
    HeterogeneousDevice small = device("t4");
    const auto stages_at = [&](Count batch, double gigabytes) {
        small.gpu.dram_bytes = gigabytes * 1e9;
        HeterogeneousOptions options;
        options.nodes = 100;
        const auto answer = split_network(graph_of("vgg16", batch), {small, small}, options);
        REQUIRE(answer.ok());
        return *answer;
    };
    CHECK(stages_at(1, 0.9).stages.size() == 2);         // 277 MB of weights and 13 MB beside them
    const HeterogeneousAnswer full = stages_at(64, 1.6); // 64 times 12.8 MB, and the weights
    CHECK_FALSE(full.stages.empty());
    CHECK(full.devices[0].whole_bytes > 64 * 12.8e6 + 276e6);
    CHECK(stages_at(64, 1.2).stages.empty()); // 0.7 GB for tensors hold no first layer
    CHECK_FALSE(stages_at(64, 1.2).devices[0].holds_all);
}

TEST_CASE("what cuts a chain is what is read behind it, each tensor once") {
    const auto answer = split_network(graph_of("alexnet", 1),
                                      {device("v100-sxm2-16gb"), device("v100-sxm2-16gb")}, {});
    REQUIRE(answer.ok());
    for (std::size_t i = 1; i < answer->stages.size(); ++i) {
        CHECK(answer->stage_bytes[i] > 0.0);
    }
    CHECK(answer->stage_bytes.front() == 0.0);
    const auto one = split_network(graph_of("alexnet", 1), {device("t4")}, {});
    REQUIRE_FALSE(one.ok());
    CHECK(one.diagnostics().items().front().code == "too-few-devices");
}

} // namespace test_scale_heterogeneous
