#include "analysis/search/map_network.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace test_analysis_map_network {

using namespace eyeroof;

namespace {

model::Network network(const std::string& name) {
    const std::filesystem::path source = tests::source_dir();
    auto loaded = formats::load_network(name, {source / "examples/networks"});
    REQUIRE(loaded);
    return *std::move(loaded);
}

model::Machine machine(const std::string& name) {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    auto loaded = hwdb::load_machine(name, folders);
    REQUIRE(loaded);
    return *std::move(loaded);
}

} // namespace

TEST_CASE("a searched mapping is never worse than the dataflow's own, on chips that keep "
          "activations between layers too") {
    for (const char* name : {"tpu-v1", "dadiannao", "shidiannao", "envision", "nvdla-large"}) {
        for (const bool free : {false, true}) {
            analysis::MapOptions options;
            options.layers = "CONV[35]|FC8";
            options.free_dataflow = free;
            options.search.time_limit_s = 0.3; // never worse even where the proof is not reached
            const auto report = analysis::map_network(network("alexnet"), machine(name), options);
            REQUIRE(report);
            for (const analysis::MappedLayer& layer : report->layers) {
                CAPTURE(name);
                CAPTURE(free);
                CAPTURE(layer.name);
                REQUIRE(layer.found);
                CHECK(layer.preset_value > 0.0); // the dataflow's own keeps the rules
                CHECK(layer.found->certificate.value <= layer.preset_value * (1.0 + 1e-12));
                CHECK(layer.found->certificate.lower_bound <= layer.found->certificate.value);
            }
        }
    }
}

TEST_CASE("a network that is mapped until somebody stops it ends with what was found") {
    analysis::MapOptions options;
    options.layers = "CONV[345]";
    options.search.threads = 1;
    std::stop_source source;
    const auto report =
        analysis::map_network(network("alexnet"), machine("nvdla-large"), options,
                              source.get_token(), [&](const Progress&) { source.request_stop(); });
    REQUIRE(report);
    CHECK(report->cancelled);
    REQUIRE(report->layers.size() == 3);
    CHECK(report->layers[0].found);
    CHECK_FALSE(report->layers[2].found);
    CHECK(report->layers[2].why.items().front().code == "cancelled");
    CHECK(report->energy_pj > 0.0);
    source = std::stop_source();
    source.request_stop(); // before anything was found
    const auto none = analysis::map_network(network("alexnet"), machine("nvdla-large"), options,
                                            source.get_token());
    REQUIRE_FALSE(none);
    CHECK(none.diagnostics().items().front().code == "cancelled");
}

} // namespace test_analysis_map_network
