#include "analysis/search/map_network.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_analysis_baselines_on_catalog {

using namespace eyeroof;

namespace {

std::vector<analysis::LayerTask> tasks(const char* network, const char* machine,
                                       const char* layers) {
    const std::filesystem::path source = tests::source_dir();
    const auto loaded = formats::load_network(network, {source / "examples/networks"});
    const std::vector<std::filesystem::path> folders = {source / "hwdb"};
    const auto on = hwdb::load_machine(machine, folders);
    REQUIRE(loaded);
    REQUIRE(on);
    analysis::MapOptions options;
    options.layers = layers;
    auto found = analysis::layer_tasks(*loaded, *on, options);
    REQUIRE(found);
    return *std::move(found);
}

} // namespace

TEST_CASE("no baseline beats the certificate on layers of the catalog's networks and machines") {
    struct Sample {
        const char* network;
        const char* layers;
    };
    int compared = 0;
    for (const Sample& sample :
         {Sample{"alexnet", "CONV3"}, Sample{"vgg16", "CONV5_1"}, Sample{"resnet50", "conv4_1_a"},
          Sample{"mobilenet-v1", "dw5"}, Sample{"bert-large", "scores"}}) {
        for (const char* machine : {"eyeriss-v1", "simba", "nvdla-large", "tpu-v1"}) {
            for (const analysis::LayerTask& one : tasks(sample.network, machine, sample.layers)) {
                CAPTURE(sample.network);
                CAPTURE(machine);
                CAPTURE(one.layer);
                // A bound holds whether or not the proof ends in time.
                const auto exact = mapper::search(one.task, {.threads = 2, .time_limit_s = 0.3});
                REQUIRE(exact);
                CHECK(exact->certificate.lower_bound > 0.0);
                for (const auto strategy :
                     {mapper::Strategy::random, mapper::Strategy::random_pruned,
                      mapper::Strategy::annealing, mapper::Strategy::genetic,
                      mapper::Strategy::exhaustive}) {
                    mapper::SearchOptions options;
                    options.strategy = strategy;
                    options.max_samples = 1000;
                    CAPTURE(mapper::strategy_name(strategy));
                    const auto other = mapper::search(one.task, options);
                    if (other) {
                        ++compared;
                        CHECK(other->certificate.value >= exact->certificate.lower_bound);
                    }
                    if (other && exact->certificate.proved) {
                        CHECK(other->certificate.value >= exact->certificate.value * (1.0 - 1e-9));
                    }
                }
            }
        }
    }
    CHECK(compared > 50);
}

} // namespace test_analysis_baselines_on_catalog
