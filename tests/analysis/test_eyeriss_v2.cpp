// Eyeriss v2's hierarchical mesh against v1's network on the same number of PEs: Chen et al., IEEE
// JETCAS 9(2), 2019. The paper's factors are post-layout simulations; what is tested is that the
// engine finds gains of that size from the networks alone, and where they come from.
#include "analysis/exam/run.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace test_analysis_eyeriss_v2 {

using namespace eyeroof;

namespace {

analysis::Report examined(const std::string& network, const std::string& machine) {
    const std::filesystem::path source = eyeroof::tests::source_dir();
    const auto layers = formats::load_network(network, {source / "examples/networks"});
    const std::vector<std::filesystem::path> folders = {source / "hwdb"};
    const auto accelerator = hwdb::load_machine(machine, folders);
    REQUIRE(layers.ok());
    REQUIRE(accelerator.ok());
    analysis::Scenario by_rules;
    by_rules.policy = analysis::MappingPolicy::dataflow;
    auto report = analysis::run(*layers, *accelerator, by_rules);
    REQUIRE(report.ok());
    return *std::move(report);
}

double mesh_gain(const std::string& network) {
    return examined(network, "eyeriss-v1-192").total.processing_time_s /
           examined(network, "eyeriss-v2-dense").total.processing_time_s;
}

} // namespace

TEST_CASE("the hierarchical mesh alone speeds AlexNet and MobileNet up by several times") {
    const double alexnet = mesh_gain("alexnet");
    const double mobilenet = mesh_gain("mobilenet-v1-0.5-128");
    MESSAGE("AlexNet " << alexnet << " (published 6.9), MobileNet " << mobilenet
                       << " (published 5.6)");
    CHECK(alexnet > 6.9 / 1.5);
    CHECK(alexnet < 6.9 * 1.5);
    CHECK(mobilenet > 5.6 / 1.5);
    CHECK(mobilenet < 5.6 * 1.5);
}

TEST_CASE("on the broadcast network depth-wise layers starve for inputs, on the mesh they do not") {
    const analysis::Report v1 = examined("mobilenet-v1-0.5-128", "eyeriss-v1-192");
    const analysis::Report v2 = examined("mobilenet-v1-0.5-128", "eyeriss-v2-dense");
    for (std::size_t i = 0; i < v1.layers.size(); ++i) {
        if (v1.layers[i].layer.name == "dw5") {
            CHECK(v1.layers[i].steps[5].limit == "input network");
            CHECK(v2.layers[i].steps[5].macs_per_cycle >
                  5.0 * v1.layers[i].steps[5].macs_per_cycle);
        }
    }
}

} // namespace test_analysis_eyeriss_v2
