// What a report calls its worst losses is worth mending.
#include "analysis/exam/run.hpp"
#include "formats/any_machine.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace test_analysis_worst_losses {

using namespace eyeroof; // NOLINT

TEST_CASE("what would save nothing but a rounding error is no loss") {
    const std::filesystem::path hwdb = std::filesystem::path(tests::source_dir()) / "hwdb";
    const auto machine = formats::load_any_machine("eyeriss-v1", {hwdb});
    REQUIRE(machine.ok());
    model::Network network;
    network.layers.resize(1);
    network.layers.front().name = "fc";
    network.layers.front().shape = model::GemmShape{1, 1, 4096, 9216};
    const auto report = analysis::run(network, *machine);
    REQUIRE(report.ok());
    REQUIRE(report->worst.size() ==
            1); // the DRAM link alone; before, steps 1 and 2 "saved" 3e-17 s
    CHECK(report->worst.front().step == 6);
}

namespace {

model::Network many_products(Count count) {
    model::Network network;
    for (Count i = 0; i < count; ++i) {
        model::Layer layer;
        layer.name = "l" + std::to_string(i);
        layer.shape = model::GemmShape{1, 64 + i % 97 * 16, 64 + i % 89 * 32, 64 + i % 83 * 8};
        layer.count = 1 + i % 3;
        network.layers.push_back(layer);
    }
    return network;
}

model::Machine a100() {
    const std::filesystem::path hwdb = std::filesystem::path(tests::source_dir()) / "hwdb";
    return formats::load_any_machine("a100-sxm-40gb", {hwdb}).value();
}

} // namespace

TEST_CASE("layers that are shared among threads are examined as each of them alone") {
    const model::Network all = many_products(700);
    const auto report = analysis::run(all, a100());
    REQUIRE(report.ok());
    REQUIRE(report->layers.size() == all.layers.size());
    for (std::size_t i = 0; i < all.layers.size(); i += 37) {
        model::Network one = all;
        one.layers = {all.layers[i]};
        const auto alone = analysis::run(one, a100());
        REQUIRE(alone.ok());
        CHECK(report->layers[i].layer == all.layers[i]);
        CHECK(report->layers[i].time_s == alone->layers[0].time_s);
        CHECK(report->layers[i].low_s == alone->layers[0].low_s);
        CHECK(report->layers[i].steps == alone->layers[0].steps);
        CHECK(report->layers[i].machine_steps == alone->layers[0].machine_steps);
        CHECK(report->layers[i].limits == alone->layers[0].limits);
    }
}

TEST_CASE("of many layers the three largest savings are named, and of equal ones the first") {
    analysis::Question question;
    question.network = many_products(700);
    question.machine = a100();
    question.scenario.launch = model::Launch::none; // kernels alone: the step is their sum
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    std::vector<analysis::Loss> losses;
    for (std::size_t i = 0; i < report->layers.size(); ++i) {
        const analysis::LayerReport& layer = report->layers[i];
        for (std::size_t step = 1; step <= model::kSteps; ++step) {
            const double saved_s = std::max(0.0, layer.time_s - layer.limits.without[step - 1]);
            losses.push_back({i, step, saved_s * static_cast<double>(layer.layer.count)});
        }
    }
    std::stable_sort(losses.begin(), losses.end(),
                     [](const auto& a, const auto& b) { return a.lost_s > b.lost_s; });
    REQUIRE(report->worst.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(report->worst[i].layer == losses[i].layer);
        CHECK(report->worst[i].step == losses[i].step);
        CHECK(report->worst[i].lost_s == tests::near(losses[i].lost_s));
    }
}

TEST_CASE("a kernel that the host's launches hide saves nothing of the step") {
    analysis::Question question;
    question.network = many_products(40);
    question.machine = a100();
    question.scenario.launch = model::Launch::eager;
    const auto hidden = analysis::run(question);
    REQUIRE(hidden.ok());
    REQUIRE(hidden->total.host_s > hidden->total.device_s);
    const double after_host_s = hidden->total.time_s - hidden->total.host_s; // the last kernels
    for (const analysis::Loss& loss : hidden->worst) {
        CHECK(loss.lost_s <= after_host_s * (1.0 + 1e-9));
    }
    question.scenario.launch = model::Launch::none; // no launch hides a kernel
    const auto alone = analysis::run(question);
    REQUIRE(alone.ok());
    REQUIRE(alone->worst.size() == 3);
    CHECK(alone->worst.front().lost_s > after_host_s);
    const analysis::Loss& loss = alone->worst.front();
    CHECK(loss.lost_s < alone->total.time_s);
    CHECK(alone->total.time_s == tests::near(alone->total.device_s));
}

} // namespace test_analysis_worst_losses
