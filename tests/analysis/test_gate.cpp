#include "analysis/exam/gate.hpp"
#include "tests/report/fixture.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace test_analysis_gate {

using namespace eyeroof;
using namespace eyeroof::analysis;

namespace {

bool holds(const std::string& expression) {
    const auto gate = parse_gate(expression);
    REQUIRE(gate.ok());
    const auto verdict = evaluate(*gate, tests::small_report());
    REQUIRE(verdict.ok());
    return verdict->holds;
}

Diagnostic first_error(const std::string& expression) {
    const auto gate = parse_gate(expression);
    CAPTURE(expression);
    REQUIRE(!gate.ok());
    return gate.diagnostics().items()[0];
}

} // namespace

TEST_CASE("a number may have a unit, and a key of the whole may stand alone without its own") {
    CHECK(parse_gate("time < 5 ms").ok());
    CHECK(*parse_gate("time < 5 ms") == *parse_gate("time < 5e-3"));
    CHECK(parse_gate("time<5ms and energy > 2 mJ or outer_bytes >= 3GB").ok());
    CHECK(parse_gate("time < 5 ms")->alternatives[0][0].key == "time_s");
    CHECK(parse_gate("time < 5 ms")->alternatives[0][0].number == 5e-3);
    CHECK(parse_gate("net.outer_bytes > 3 GB")->alternatives[0][0].number == 3e9);
    const auto energy = parse_gate("energy > 2 mJ", {{"energy_pj"}, {}}); // as `map` has it
    REQUIRE(energy.ok());
    CHECK(std::abs(energy->alternatives[0][0].number - 2e9) < 1.0);
    CHECK(holds("utilization <= 39 %"));
    CHECK(!holds("utilization < 38%"));
    CHECK(first_error("time < 5 GB").message.find("not in the unit of time_s") !=
          std::string::npos);
    CHECK(first_error("limiter_step < 5 ms").code == "bad-expression");
}

TEST_CASE("comparisons look at the network, one layer, any layer or all of them") {
    CHECK(holds("net.utilization < 0.6"));
    CHECK(!holds("net.utilization < 0.39")); // is 0.39
    CHECK(holds("net.utilization <= 0.39"));
    CHECK(holds("layer.relu.time_s == 0.005"));
    CHECK(!holds("layer.conv,1.time_s > 0.1"));
    CHECK(holds("any.utilization < 0.2"));
    CHECK(!holds("all.utilization < 0.2"));
    CHECK(holds("all.utilization != 0.2"));
    CHECK(holds("layer.\"conv,1\".limiter_step >= 6"));
}

TEST_CASE("and binds closer than or, and parentheses closer than both") {
    CHECK(holds("net.time_s < 0 and net.time_s < 0 or net.time_s > 0"));
    CHECK(!holds("net.time_s < 0 and (net.time_s < 0 or net.time_s > 0)"));
    CHECK(holds("(net.time_s>0)&&(net.macs==8000||net.macs==1)"));
}

TEST_CASE("the verdict says which comparisons held, with the values found") {
    const auto gate = parse_gate("net.time_s < 0 or any.utilization < 0.2 and net.macs > 1");
    const auto verdict = evaluate(*gate, tests::small_report());
    REQUIRE(verdict.ok());
    CHECK(verdict->because ==
          std::vector<std::string>{"layer.relu.utilization is 0.1", "net.macs is 8000"});
}

TEST_CASE("mistakes are told with their column and a hint") {
    CHECK(first_error("net.utilisation < 1").code == "unknown-key");
    CHECK(first_error("net.utilisation < 1").hint == "did you mean 'utilization'?");
    CHECK(first_error("net.time_s > 1 and nett.macs > 1").where.column == 20);
    CHECK(first_error("net.time_s 1").where.column == 12);
    CHECK(first_error("net.time_s < 1GB").where.column == 14);
    CHECK(first_error("net.time_s < nan").where.column == 14);
    CHECK(first_error("net.time_s < 1e999").where.column == 14);
    CHECK(first_error("net.time_s < 1 net.time_s > 1").where.column == 16);
    CHECK(first_error("(net.time_s < 1").where.column == 16);
    CHECK(first_error("").where.column == 1);
    CHECK(first_error("layer.time_s < 1").message == "'layer.time_s' names no layer");
    CHECK(first_error("duration < 1").hint.find("net.KEY") != std::string::npos);
}

TEST_CASE("expressions that grow without end are refused") {
    CHECK(first_error(std::string(100'000, '(')).code == "too-long");
    CHECK(first_error(std::string(1'000, '(')).code == "too-long");
    std::string wide = "net.macs > 1";
    for (int i = 0; i < 11; ++i) { // 2^11 alternatives when multiplied out
        wide += " and (net.macs > 1 or net.macs > 2)";
    }
    CHECK(first_error(wide).code == "too-long");
}

TEST_CASE("an unknown layer and a missing interval are errors, not verdicts") {
    const auto layer = evaluate(*parse_gate("layer.relo.time_s < 1"), tests::small_report());
    REQUIRE(!layer.ok());
    CHECK(layer.diagnostics().items()[0].hint == "did you mean 'relu'?");
    const auto interval = evaluate(*parse_gate("any.high_s < 1"), tests::small_report());
    REQUIRE(!interval.ok());
    CHECK(interval.diagnostics().items()[0].code == "no-value");
}

TEST_CASE("measured times are judged where there are any, and asking elsewhere is an error") {
    analysis::Report report = tests::small_report();
    const auto none = evaluate(*parse_gate("net.unexplained_s > 0"), report);
    REQUIRE(!none.ok());
    CHECK(none.diagnostics().items()[0].code == "no-value");
    CHECK(none.diagnostics().items()[0].hint.find("--profile") != std::string::npos);
    report.measured.emplace();
    report.measured->measured_s = 1.5;
    report.measured->unexplained_s = 0.5;
    report.layers[0].measured.emplace();
    report.layers[0].measured->time_s = 0.2;
    const auto net =
        evaluate(*parse_gate("net.unexplained_s > 0.4 and net.measured_s < 2"), report);
    REQUIRE(net.ok());
    CHECK(net->holds);
    const auto layer = evaluate(*parse_gate("layer.\"conv,1\".measured_s > 0.3"), report);
    REQUIRE(layer.ok());
    CHECK_FALSE(layer->holds);
}

} // namespace test_analysis_gate
