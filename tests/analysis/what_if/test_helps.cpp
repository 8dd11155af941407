#include "analysis/what_if/helps.hpp"
#include "analysis/what_if/parameter_map.hpp"
#include "analysis/what_if/sensitivity.hpp"
#include "analysis/what_if/trials.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_analysis_what_if_helps {

using namespace eyeroof;

namespace {

analysis::Question question_of_one(const model::GemmShape& shape, const char* machine) {
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
    return tests::question_of(network, *on);
}

} // namespace

TEST_CASE("a layer that waits for its weights gains from what brings them, and from nothing else") {
    // One row of inputs: TPU v1 reads a million weights at 34 GB/s for one MAC each.
    const auto found = analysis::what_would_help(question_of_one({1, 1, 1024, 1024}, "tpu-v1"));
    REQUIRE(found);
    const analysis::Helps& helps = *found;
    const analysis::ParameterHelp& first = helps.parameters.front();
    CAPTURE(first.key);
    CHECK(first.doubled > 1.5);
    CHECK(first.doubled <= 2.0 + 1e-9);
    CHECK(first.tenth > 1.05);
    CHECK(first.tenth <= 1.1 + 1e-9);
    CHECK(first.next);
    CHECK(first.with_next >= analysis::kHelps);
    CHECK(std::is_sorted(helps.parameters.begin(), helps.parameters.end(),
                         [](const auto& a, const auto& b) { return a.doubled > b.doubled; }));
    // Without what binds it, it is faster; the six others leave it as it is or better.
    const double best = *std::min_element(helps.without.begin(), helps.without.end());
    CHECK(best < 0.5 * helps.time_s);
    CHECK(helps.without[5] == best);
    for (const double seconds : helps.without) {
        CHECK(seconds <= helps.time_s * (1.0 + 1e-9));
    }
}

TEST_CASE("a count grows by at least one, and a rate by its share") {
    analysis::Parameter count;
    count.value = 4.0;
    count.whole = true;
    CHECK(analysis::turned_value(count, 1.1) == 5.0);
    CHECK(analysis::turned_value(count, 2.0) == 8.0);
    analysis::Parameter rate;
    rate.value = 4.0;
    CHECK(analysis::turned_value(rate, 1.125) == 4.5);
}

TEST_CASE("more layers than an answer has memory for are refused, in training a third as many") {
    analysis::Question asked = question_of_one({1, 1, 1, 1}, "tpu-v1");
    asked.network.layers.resize(40'001, asked.network.layers.front());
    const auto many = analysis::run(asked);
    REQUIRE_FALSE(many);
    CHECK(many.diagnostics().items().front().code == "too-large");
    asked.scenario = tests::training_with("sgd");
    asked.network.layers.resize(13'334);
    const auto trained = analysis::run(asked);
    REQUIRE_FALSE(trained);
    CHECK(trained.diagnostics().items().front().message ==
          "13334 layers are more than the 13333 that are examined at once");
}

// Of the clock alone: the case above tries every parameter.
TEST_CASE("the clock helps a layer that only computes, in proportion") {
    const analysis::Question asked = question_of_one({1, 8192, 4096, 4096}, "tpu-v1");
    const auto report = analysis::run(asked);
    REQUIRE(report);
    const auto near = [known = analysis::known_mappings(*report)](const analysis::Question& variant,
                                                                  const std::stop_token& stop) {
        return analysis::run_near(variant, known, stop);
    };
    const auto trials = analysis::Trials::of(asked, {}, near);
    REQUIRE(trials);
    const auto parameters = analysis::tried_parameters(trials->question().machine);
    const auto clock = std::find_if(parameters.begin(), parameters.end(),
                                    [](const auto& p) { return p.key == "clock"; });
    REQUIRE(clock != parameters.end());
    const auto doubled =
        trials->speedup(*clock, analysis::turned_value(*clock, analysis::kDoubled));
    REQUIRE(doubled);
    CHECK(*doubled > 1.3);
    CHECK(*doubled <= 2.0 + 1e-9);
    const auto next = analysis::next_helpful(*trials, *clock);
    REQUIRE(next);
    CHECK(next->speedup >= analysis::kHelps);
}

} // namespace test_analysis_what_if_helps
