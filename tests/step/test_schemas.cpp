// What the step's commands write as JSON, against their schemas.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/step/copy_ways.hpp"
#include "analysis/step/improve.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/step/improve_answer.hpp"
#include "report/step/memory_answer.hpp"
#include "report/step/timeline_write.hpp"
#include "tests/json_schema.hpp"
#include "tests/step/step_fixture.hpp"

namespace test_step_schemas {

using namespace eyeroof;
using namespace eyeroof::analysis::step;
using namespace eyeroof::report;

namespace {

std::vector<std::string> faults(const std::string& name, const Answer& answer) {
    tests::SchemaCheck schema(nlohmann::json::parse(schema_of(name)));
    return schema.faults(nlohmann::json::parse(to_json(answer)));
}

using Faults = std::vector<std::string>;

} // namespace

TEST_CASE("JSON of timeline, copies, memory and improve is what the schemas say") {
    analysis::Scenario scenario = tests::training_with("adam");
    scenario.copies = analysis::Copies::batch;
    const auto question = tests::catalog_question("bert-base:layers=2", "a100-sxm-40gb", scenario);
    const auto report = analysis::run(question);
    REQUIRE(report.ok());
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
    CHECK(faults("timeline", timeline_answer({*report, gpu})) == Faults{});
    const Graph& graph = report->program;
    const CopyWays ways{
        "n",  "m",
        "",   true,
        10.0, copy_ways(graph, tests::costs_on(graph, gpu), gpu, timeline_options(question, gpu))};
    CHECK(faults("copies", copies_answer(ways)) == Faults{});
    CHECK(faults("memory", memory_answer({*report, 0, std::nullopt})) == Faults{});
    ImproveOptions improving;
    improving.limit = 1'000'000'000;
    improving.batches = {1};
    improving.density = 0.25;
    const auto inference = tests::catalog_question("bert-base:layers=2", "a100-sxm-40gb");
    const auto found = improve(inference, improving);
    REQUIRE(found.ok());
    CHECK(faults("improve", improve_answer(*found, "n", "m", 1)) == Faults{});
    CHECK(found->schedules.size() == 2);
}

} // namespace test_step_schemas
