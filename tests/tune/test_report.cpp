// Answers and comparisons: their schemas, and that jobs change nothing.
#include "analysis/trials/measured_best.hpp"
#include "analysis/tune_compare/compare.hpp"
#include "report/draw/svg.hpp"
#include "report/tune/report.hpp"
#include "report/tune_compare/compare_write.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/tune/workloads.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace test_tune_report {

using namespace eyeroof;
using namespace eyeroof::analysis::tune;
using namespace eyeroof::report;
using eyeroof::tests::near;
using eyeroof::tests::product;

namespace {

TuneResult computed(std::size_t trials) {
    TuneOptions options;
    options.target = TargetKind::model;
    options.plan.trials = trials;
    const auto result = tune_layers({product(64, 80, 96), product(32, 32, 256)}, options, nullptr);
    REQUIRE(result);
    return *result;
}

std::vector<std::string> faults(const char* schema, const std::string& text) {
    std::ifstream file(std::string(eyeroof::tests::source_dir()) + "/report/schema/" + schema);
    return eyeroof::tests::SchemaCheck(nlohmann::json::parse(file))
        .faults(nlohmann::json::parse(text));
}

} // namespace

TEST_CASE("the JSON of a search is as its schema says, and the curve falls to the best") {
    const TuneResult result = computed(40);
    const std::string text = tune_json(result);
    for (const std::string& fault : faults("tune.schema.json", text)) {
        FAIL_CHECK(fault);
    }
    const auto json = nlohmann::json::parse(text);
    for (const auto& layer : json["layers"]) {
        double last = 1e30;
        for (const auto& step : layer["curve"]) {
            CHECK(step["best_s"].get<double>() < last);
            last = step["best_s"].get<double>();
        }
        CHECK(last == near(layer["best"]["time_s"].get<double>()));
    }
}

TEST_CASE("a line of a log is as its schema says") {
    const Workload work = product(64, 64, 64);
    const SearchTask search_task = cpu_task(work, CpuMachine{});
    for (const Outcome& outcome :
         {Outcome{1e-3, {1e-3}}, Outcome{kNoCost, {}, "timeout", "late"}}) {
        const Trial trial{search_task.space.at(0), outcome, 0, 0.0, 0.1};
        for (const std::string& fault :
             faults("trial.schema.json", trial_text(line_of(search_task, work, {}, trial, 0)))) {
            FAIL_CHECK(fault);
        }
    }
}

TEST_CASE("a search's text, table and picture name every layer") {
    const TuneResult result = computed(20);
    CHECK(tune_text(result, true).find("largest loss") != std::string::npos);
    const std::string csv = tune_csv(result);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 * 20);
    CHECK(tune_svg(result).find("</svg>") != std::string::npos);
}

TEST_CASE("a comparison is the same for any number of jobs") {
    TuneOptions options;
    auto one = synthetic_tasks_of({product(96, 96, 96), product(50, 70, 90)}, options);
    auto two = synthetic_tasks_of({product(96, 96, 96), product(50, 70, 90)}, options);
    const auto contenders = usual_contenders(false);
    const Comparison alone = compare(one, contenders, 2, 24, 1);
    const Comparison together = compare(two, contenders, 2, 24, 4);
    CHECK(alone.scores == together.scores);
    CHECK(alone.scores.size() == contenders.size());
    CHECK(comparison_text(alone) == comparison_text(together));
    for (const std::string& fault : faults("tune-comparison.schema.json", comparison_json(alone))) {
        FAIL_CHECK(fault);
    }
}

TEST_CASE("on a pool every strategy chooses measured points alone, and ends at the best of them") {
    const Workload work = product(96, 64, 48);
    const CpuMachine machine;
    const SearchTask search_task = cpu_task(work, machine);
    const auto target = synthetic_target(work, machine, search_task, 3, {0.0, 1});
    TrialOrigin origin;
    origin.lanes = machine.lanes;
    origin.registers = machine.registers;
    Rng rng(4);
    std::vector<TrialLine> lines;
    for (Count n = 0; n < 60; ++n) {
        const Point point = *search_task.space.draw(rng);
        lines.push_back(
            line_of(search_task, work, origin, {point, target->measure(point), 0, 0.0, 0.0}, n));
    }
    auto pools = pools_of(lines);
    REQUIRE(pools.size() == 1);
    const std::size_t points = pools.front().points.size();
    const Comparison all = compare(pools, usual_contenders(true), 2, points, 2);
    for (std::size_t c = 0; c < all.contenders.size(); ++c) {
        CHECK_MESSAGE(all.scores[c][0].reached == near(1.0), all.contenders[c]);
        CHECK_MESSAGE(all.scores[c][0].trials[2].has_value(), all.contenders[c]);
    }
    CHECK(pools_of({lines.begin(), lines.begin() + 10}).empty()); // too few
}

} // namespace test_tune_report
