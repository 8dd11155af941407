// The tables behind the comparison are whole: no command and no field is left out.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "report/session/session.hpp"
#include "tests/agreement/compare.hpp"
#include "tests/agreement/random_scenario.hpp"
#include "tests/agreement/rows.hpp"
#include "tests/scenario/fixture.hpp"

#include <algorithm>

namespace test_agreement_table {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using namespace eyeroof::report;
using model::Launch;

TEST_CASE("each command has a row, or a reason why it has no step") {
    const std::vector<std::string> commands = {
#define EYEROOF_COMMAND(name, group) #name,
#include "cli/commands.def"
#undef EYEROOF_COMMAND
    };
    for (const std::string& command : commands) {
        CAPTURE(command);
        const bool row = std::ranges::any_of(
            tests::rows(), [&](const tests::Row& one) { return one.command == command; });
        CHECK(row != tests::without_step().contains(command)); // one of both
    }
    for (const auto& [command, reason] : tests::without_step()) {
        CAPTURE(command);
        CHECK(std::ranges::find(commands, command) != commands.end());
        CHECK_FALSE(reason.empty());
    }
}

TEST_CASE("each field of a scenario is drawn at random, or has a reason why not") {
    for (const ScenarioField& field : scenario_fields()) {
        CAPTURE(field.name);
        const tests::FieldValues values = tests::values_of(field);
        CHECK(values.values.empty() == !values.left_out.empty());
        std::size_t set = 0;
        for (std::uint64_t i = 0; i < 1000; ++i) {
            set += field.get(tests::random_scenario(i)) != field.get(Scenario{}) ? 1 : 0;
        }
        CHECK((set > 0) == values.left_out.empty());
    }
}

TEST_CASE("a random scenario survives JSON, and the window's session on each of its machines") {
    for (std::uint64_t i = 0; i < 1000; ++i) {
        const Scenario scenario = tests::random_scenario(i);
        CAPTURE(scenario_json(scenario));
        const auto read = parse_scenario(scenario_json(scenario), "scenario.json");
        REQUIRE(read.ok());
        CHECK(*read == scenario);
        Session session;
        session.scenario = scenario;
        session.machines = {scenario.machine, "a100-sxm-40gb"};
        const auto opened = parse_session(write_session(session), "session.yaml");
        REQUIRE(opened.ok());
        CHECK(scenario_on(*opened, 0) == scenario);
    }
}

// The times of a random step on a GPU, launched in each way.
struct Step {
    double none_s, graph_s, stream_s, eager_s;
    double kernels_s[4];
};

std::optional<Step> step_of(Scenario scenario) {
    Step step{};
    const std::pair<Launch, double*> ways[] = {{Launch::none, &step.none_s},
                                               {Launch::graph, &step.graph_s},
                                               {Launch::stream, &step.stream_s},
                                               {Launch::eager, &step.eager_s}};
    double* kernels = step.kernels_s;
    for (const auto& [launch, time_s] : ways) {
        scenario.launch = launch;
        const auto question = resolve(scenario, tests::catalog_folders());
        const auto report = question ? run(*question) : Result<Report>(question.diagnostics());
        if (!report) {
            return std::nullopt;
        }
        *time_s = report->total.time_s;
        *kernels++ = report->total.device_s;
    }
    return step;
}

TEST_CASE("graph, back to back, eager: no random step is quicker than the one before") {
    const std::uint64_t wanted = tests::all_of_it() ? 1000 : 24;
    std::uint64_t steps = 0;
    for (std::uint64_t i = 0; steps < wanted && i < 20 * wanted; ++i) {
        Scenario scenario = tests::random_scenario(100'000 + i);
        const auto step =
            tests::is_accelerator(scenario.machine) ? std::nullopt : step_of(scenario);
        if (!step) {
            continue;
        }
        ++steps;
        CAPTURE(scenario_json(scenario));
        constexpr double kRounding = 1.0 + 1e-12;
        CHECK(step->none_s <= step->graph_s * kRounding);
        CHECK(step->graph_s <= step->stream_s * kRounding);
        CHECK(step->stream_s <= step->eager_s * kRounding);
        for (const double kernels_s : step->kernels_s) {
            CHECK(kernels_s == step->kernels_s[0]);
        }
    }
    CHECK(steps == wanted);
}

} // namespace test_agreement_table
