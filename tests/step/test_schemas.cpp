// What the step's commands write as JSON, against their schemas.
#include "study/step/copy_ways.hpp"
#include "study/step/improve.hpp"
#include "study/step/memory_write.hpp"
#include "study/step/timeline_write.hpp"
#include "tests/json_schema.hpp"
#include "tests/step/step_fixture.hpp"

#include <fstream>

namespace test_step_schemas {

using namespace eyeroof;
using namespace eyeroof::study::step;

namespace {

std::vector<std::string> faults(const std::string& name, const std::string& document) {
    std::ifstream file(tests::source_dir() + "/study/schema/" + name + ".schema.json");
    tests::SchemaCheck schema(nlohmann::json::parse(file));
    return schema.faults(nlohmann::json::parse(document));
}

using Faults = std::vector<std::string>;

} // namespace

TEST_CASE("JSON of timeline, copies, memory and improve is what the schemas say") {
    const auto wired = tests::catalog_network("bert-base:layers=2");
    const model::Gpu gpu = tests::catalog_gpu("a100-sxm-40gb");
    const Graph graph = tests::graph_of("bert-base:layers=2", true);
    const Costs costs = *costs_of(graph, gpu, model::Launch::eager);
    TimelineOptions options;
    options.copies = Copies::batch;
    const Timeline line = simulate(graph, costs, gpu, options);
    CHECK(faults("timeline", timeline_json({graph, line, gpu, options, "m", "h", true})) ==
          Faults{});
    CopyWays ways{"n", "m", "", true, 10.0, copy_ways(graph, costs, gpu, options)};
    CHECK(faults("copies", copy_ways_json(ways)) == Faults{});
    const Memory memory = memory_of(graph);
    const MemoryReport report{graph, memory, "m", true, 0, std::nullopt};
    CHECK(faults("memory", memory_json(report)) == Faults{});
    ImproveOptions improving;
    improving.host = study::textbook_host();
    improving.limit = 1'000'000'000;
    improving.batches = {1};
    improving.density = 0.25;
    const auto found = improve(wired.network, wired.wiring, gpu, improving);
    REQUIRE(found.ok());
    CHECK(faults("improve", improve_json(*found, "n", "m", 1)) == Faults{});
    CHECK(found->schedules.size() == 2);
}

} // namespace test_step_schemas
