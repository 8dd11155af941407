// Answers: their schemas.
#include "analysis/trials/measured_best.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/draw/svg.hpp"
#include "report/tune/tune_answer.hpp"
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
    const std::string text = to_json(tune_answer(result, false));
    const auto schema = nlohmann::json::parse(schema_of("tune"));
    for (const std::string& fault :
         eyeroof::tests::SchemaCheck(schema).faults(nlohmann::json::parse(text))) {
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
    CHECK(to_text(tune_answer(result, true), 100).find("largest loss") != std::string::npos);
    CHECK(to_text(tune_answer(result, false), 100).find("largest loss") == std::string::npos);
    const Answer answer = tune_answer(result, false);
    const std::string csv = to_csv(answer);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 1 + 2 * 20);
    CHECK(to_svg_picture(answer).find("</svg>") != std::string::npos);
}

} // namespace test_tune_report
