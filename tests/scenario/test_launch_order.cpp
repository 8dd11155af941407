// How a step is launched: what holds of every network of the catalog.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "formats/catalog.hpp"
#include "tests/scenario/fixture.hpp"

#include <array>

namespace test_scenario_launch_order {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using model::Launch;

namespace {

struct Step {
    double graph_s = 0.0, stream_s = 0.0, eager_s = 0.0, kernels_s = 0.0;
};

// The same program with the same kernels, launched in each way; nothing where the GPU does not run
// it.
std::optional<Step> steps_of(const Question& asked) {
    Question question = as_it_runs(asked);
    const auto& gpu = std::get<model::Gpu>(question.machine.kind);
    const auto program = lower(question);
    if (!program) {
        return std::nullopt; // a training step itself
    }
    const auto costs = analysis::step::costs_of(*program, gpu, software_of(question));
    if (!costs) {
        return std::nullopt; // a type that the GPU does not have
    }
    const auto time_of = [&](Launch launch) {
        question.scenario.launch = launch;
        return analysis::step::simulate(*program, *costs, gpu, timeline_options(question, gpu))
            .time_s;
    };
    return Step{time_of(Launch::graph), time_of(Launch::stream), time_of(Launch::eager),
                time_of(Launch::none)};
}

std::vector<std::string> catalog() {
    const auto heads = formats::list_networks(tests::catalog_folders().networks);
    REQUIRE(heads.ok());
    std::vector<std::string> ids;
    for (const auto& head : *heads) {
        ids.push_back(head.id);
    }
    return ids;
}

void check_order(const std::string& machine, bool training, bool compiled) {
    std::size_t steps = 0;
    for (const std::string& id : catalog()) {
        Scenario scenario = tests::scenario_of(id, machine, training);
        scenario.compiled = compiled;
        const auto question = resolve(scenario, tests::catalog_folders());
        if (!question) {
            continue; // it wants a parameter
        }
        const auto step = steps_of(*question);
        if (!step) {
            continue;
        }
        ++steps;
        CAPTURE(id);
        CAPTURE(machine);
        CAPTURE(training);
        CAPTURE(compiled);
        CHECK(step->kernels_s <= step->graph_s);
        CHECK(step->graph_s <= step->stream_s);
        CHECK(step->stream_s <= step->eager_s);
    }
    CHECK(steps > 60);
}

} // namespace

TEST_CASE("no network takes longer as a graph than back to back, nor than by a framework's calls") {
    for (const char* machine : {"v100-sxm2-16gb", "a100-sxm-40gb", "h100-sxm-80gb"}) {
        check_order(machine, false, false);
        check_order(machine, true, false);
    }
    check_order("a100-sxm-40gb", false, true);
}

} // namespace test_scenario_launch_order
