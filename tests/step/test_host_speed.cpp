// The host's speed from a measured time.
#include "analysis/exam/host_speed.hpp"
#include "analysis/exam/run.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

namespace test_step_host_speed {

using namespace eyeroof;
using tests::near;

TEST_CASE("the speed that is inferred from a step's time is the one that made it") {
    analysis::Scenario scenario;
    for (const double speed : {0.5, 1.0, 4.0}) {
        scenario.host_speed = speed;
        const auto question = tests::catalog_question("mobilenet-v1", "h100-sxm-80gb", scenario);
        const auto report = analysis::run(question);
        REQUIRE(report.ok());
        const auto found = analysis::infer_host_speed(question, report->total.time_s);
        REQUIRE(found.ok());
        CHECK(found->speed == near(speed, 1e-6));
        CHECK(found->low < speed);
        CHECK(found->high > speed);
    }
}

TEST_CASE("a step that the device takes does not tell its host") {
    analysis::Scenario scenario;
    scenario.batch = 64;
    const auto question = tests::catalog_question("vgg16", "t4", scenario);
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    const auto found = analysis::infer_host_speed(question, report->total.time_s);
    REQUIRE_FALSE(found.ok());
    CHECK(found.diagnostics().begin()->code == "not-host-bound");
}

} // namespace test_step_host_speed
