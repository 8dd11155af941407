// A network on one and on all cores of a machine.
#include "analysis/cores/cores.hpp"
#include "hwdb/catalog.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/cores/cores_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <numeric>

namespace test_cores_cores_report {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

const std::filesystem::path kSource = tests::source_dir();

model::Machine simba() {
    const std::vector<std::filesystem::path> folders{kSource / "hwdb"};
    const auto machine = hwdb::load_machine("simba", folders);
    REQUIRE(machine.ok());
    return *machine;
}

// Divides evenly over any number of chiplets, lanes and PEs.
model::Network product(Count m, Count n, Count k) {
    model::Network network;
    network.id = "product";
    model::Layer layer;
    layer.name = "product";
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, m, n, k};
    network.layers.push_back(layer);
    return network;
}

analysis::CoresReport scaled(const model::Network& network,
                             const analysis::PackageOptions& package = {}) {
    analysis::Scenario scenario;
    scenario.objective = mapper::Objective::latency();
    scenario.search_nodes = 2000;
    scenario.threads = 1;
    const auto report =
        analysis::cores_report(tests::question_of(network, simba(), scenario), package);
    REQUIRE(report.ok());
    return *report;
}

} // namespace

TEST_CASE("losses add up to what is above one core's time divided by the cores") {
    const auto report = scaled(product(64, 1152, 1152));
    REQUIRE(report.points.size() >= 4);
    CHECK(report.points.front().cores == 1);
    CHECK(report.points.back().cores == 36);
    for (const analysis::CoresPoint& point : report.points) {
        CAPTURE(point.cores);
        // 1,024 MACs a core and cycle at 1.8 GHz.
        CHECK(point.time_s * static_cast<double>(point.cores) * 1024.0 * 1.8e9 >=
              64.0 * 1152.0 * 1152.0 * (1.0 - 1e-9));
        const double lost = std::accumulate(point.lost_s.begin(), point.lost_s.end(), 0.0);
        const double ideal = report.points.front().time_s / static_cast<double>(point.cores);
        CHECK(lost == near(point.time_s - ideal, 1e-6));
    }
}

TEST_CASE("a layer too small for all chiplets stops gaining, and says at which step") {
    const auto report = scaled(product(1, 64, 64));
    const analysis::CoresPoint& all = report.points.back();
    CHECK(report.points.front().time_s / all.time_s < 18.0);
    CHECK(all.costliest_step() > 0);
    CHECK(report::to_text(report::cores_answer(report), 80).find("% of the loss") !=
          std::string::npos);
}

TEST_CASE("hops and a shared memory are steps 7 and 6") {
    const auto free = scaled(product(64, 256, 256));
    const auto slow = scaled(product(64, 256, 256), {1e-3, 0.0, 0.0});
    CHECK(slow.points.back().hops_s == near(2.0 * 10.0 * 1e-3, 1e-12));
    CHECK(slow.points.back().time_s == near(free.points.back().time_s + 0.02, 1e-9));
    CHECK(slow.points.back().costliest_step() == 7);
    CHECK(slow.points.front().hops_s == 0.0);
    const auto starved = scaled(product(64, 256, 256), {0.0, 0.0, 1e6});
    CHECK(starved.points.back().costliest_step() == 6);
    CHECK(starved.points.back().time_s > free.points.back().time_s);
}

TEST_CASE("the JSON is as its schema says") {
    const auto report = scaled(product(64, 256, 256));
    const auto json = nlohmann::json::parse(report::to_json(report::cores_answer(report)));
    CHECK(
        tests::SchemaCheck(nlohmann::json::parse(report::schema_of("cores"))).faults(json).empty());
    CHECK(json["points"].size() == report.points.size());
}

TEST_CASE("a machine of one core, and a GPU, are refused by name") {
    model::Machine one = simba();
    for (model::Level& level : std::get<model::Accelerator>(one.kind).levels) {
        for (model::Axis& axis : level.fanout) {
            axis.size = 1;
        }
    }
    const auto report = analysis::cores_report(tests::question_of(product(1, 1, 1), one), {});
    CHECK(report.diagnostics().begin()->code == "one-core");
    const std::vector<std::filesystem::path> folders{kSource / "hwdb"};
    const auto eyeriss = hwdb::load_machine("eyeriss-v1", folders);
    REQUIRE(eyeriss.ok()); // 168 PEs of one array
    const auto array = analysis::cores_report(tests::question_of(product(1, 1, 1), *eyeriss), {});
    REQUIRE_FALSE(array.ok());
    CHECK(array.diagnostics().begin()->code == "one-core");
    model::Machine gpu;
    gpu.kind = model::Gpu{};
    CHECK(analysis::cores_report(tests::question_of(product(1, 1, 1), gpu), {})
              .diagnostics()
              .begin()
              ->code == "not-an-accelerator");
}

} // namespace test_cores_cores_report
