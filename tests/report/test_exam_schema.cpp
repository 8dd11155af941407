#include "report/answers/answers.hpp"
#include "report/exam/exam_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_report_exam_schema {

using namespace eyeroof;

namespace {

const analysis::Report kSmall = tests::small_report();

nlohmann::json exam_schema() {
    return nlohmann::json::parse(report::schema_of("exam"));
}

} // namespace

TEST_CASE("the JSON of a report satisfies its schema") {
    tests::SchemaCheck check(exam_schema());
    const auto faults =
        check.faults(nlohmann::json::parse(report::to_json(report::exam_answer(kSmall))));
    for (const std::string& fault : faults) {
        FAIL_CHECK(fault);
    }
}

TEST_CASE("the schema refuses a missing key, an unknown key, and a wrong type, and a wrong value") {
    tests::SchemaCheck check(exam_schema());
    const auto good = nlohmann::json::parse(report::to_json(report::exam_answer(kSmall)));
    auto missing = good;
    missing["layers"][0].erase("time_s");
    CHECK(check.faults(missing) == std::vector<std::string>{"$.layers[0]: lacks \"time_s\""});
    auto unknown = good;
    unknown["total"]["time_ms"] = 1;
    CHECK(check.faults(unknown).size() == 1);
    auto type = good;
    type["layers"][0]["macs"] = "many";
    CHECK(check.faults(type).size() == 1);
    auto negative = good;
    negative["layers"][0]["steps"][2]["bound_macs_per_cycle"] = 0.0;
    CHECK(check.faults(negative).size() == 1);
    auto steps = good;
    steps["layers"][0]["steps"].erase(6);
    CHECK(check.faults(steps).size() == 1);
    auto name = good;
    name["layers"][0]["steps"][0]["name"] = "taste";
    CHECK(check.faults(name).size() == 1);
    auto macs = good;
    macs["layers"][0]["macs"] = -1;
    CHECK(check.faults(macs).size() == 1);
}

} // namespace test_report_exam_schema
