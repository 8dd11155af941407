#include "analysis/what_if/helps.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_analysis_what_if_helps {

using namespace eyeroof;

namespace {

analysis::Helps helps_of(const model::GemmShape& shape, const char* machine) {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto on = hwdb::load_machine(machine, folders);
    REQUIRE(on);
    model::Network network;
    network.id = network.name = "one";
    model::Layer layer;
    layer.name = "fc";
    layer.shape = shape;
    layer.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
    network.layers = {layer};
    auto helps = analysis::what_would_help(tests::question_of(network, *on));
    REQUIRE(helps);
    return *std::move(helps);
}

const analysis::ParameterHelp& parameter(const analysis::Helps& helps, const std::string& key) {
    const auto found = std::find_if(helps.parameters.begin(), helps.parameters.end(),
                                    [&](const auto& p) { return p.key == key; });
    REQUIRE(found != helps.parameters.end());
    return *found;
}

} // namespace

TEST_CASE("a layer that waits for its weights gains from what brings them, and from nothing else") {
    // One row of inputs: TPU v1 reads a million weights at 34 GB/s for one MAC each.
    const analysis::Helps helps = helps_of({1, 1, 1024, 1024}, "tpu-v1");
    const analysis::ParameterHelp& first = helps.parameters.front();
    CAPTURE(first.key);
    CHECK(first.doubled > 1.5);
    CHECK(first.doubled <= 2.0 + 1e-9);
    CHECK(first.tenth > 1.05);
    CHECK(first.tenth <= 1.1 + 1e-9);
    CHECK(first.next);
    // Without what binds it, it is faster; the six others leave it as it is or better.
    const double best = *std::min_element(helps.without.begin(), helps.without.end());
    CHECK(best < 0.5 * helps.time_s);
    CHECK(helps.without[5] == best);
    for (const double seconds : helps.without) {
        CHECK(seconds <= helps.time_s * (1.0 + 1e-9));
    }
}

TEST_CASE("the clock helps a layer that only computes, in proportion") {
    const analysis::Helps helps = helps_of({1, 8192, 4096, 4096}, "tpu-v1");
    const analysis::ParameterHelp& clock = parameter(helps, "clock");
    CHECK(clock.doubled > 1.3);
    CHECK(clock.doubled <= 2.0 + 1e-9);
    CHECK(clock.with_next >= analysis::kHelps);
}

} // namespace test_analysis_what_if_helps
