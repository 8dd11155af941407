#include "analysis/exam/run.hpp"
#include "analysis/search/mapping_edit.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "report/draw/mapping_scene.hpp"
#include "report/draw/pe_array.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/question.hpp"

#include <doctest/doctest.h>

#include <numeric>

using eyeroof::tests::near;

namespace eyeroof::report::test_mapping_scene {

namespace {

namespace fs = std::filesystem;

model::Machine machine(const std::string& name) {
    const std::vector<fs::path> folders = {fs::path(tests::source_dir()) / "hwdb"};
    return hwdb::load_machine(name, folders).value();
}

model::Network network(const std::string& name) {
    return formats::load_network(name, {fs::path(tests::source_dir()) / "examples/networks"})
        .value();
}

// A 4-unit row that spreads K = 6: one full pass and one with two units at work.
struct Six {
    model::Accelerator machine;
    model::Problem problem;
    model::Mapping mapping;

    Six() {
        machine.clock_hz = 1e9;
        machine.levels.resize(1);
        machine.levels[0].fanout = {{"x", 5}};
        problem.bounds[model::index(model::Dim::K)] = 6;
        mapping.levels.resize(1);
        mapping.levels[0].temporal = {{model::Dim::K, 2}};
        mapping.levels[0].spatial = {{model::Dim::K, 4, 0}};
    }
};

} // namespace

TEST_CASE("units of the last, partial pass are fragmented and those beyond the loops idle") {
    const Six six;
    const ArrayWork work = array_work(six.problem, six.machine, six.mapping);
    CHECK(work.columns == 5);
    CHECK(work.rows == 1);
    CHECK(work.steps == 2);
    // k = 0 … 3, then 4 and 5: two units work twice, two once, the fifth never.
    CHECK(work.active == std::vector<double>{1.0, 1.0, 0.5, 0.5, 0.0});
}

TEST_CASE(
    "the units of the picture add up to the MACs of the layer and the average of the report") {
    analysis::Scenario by_rules;
    by_rules.policy = analysis::MappingPolicy::dataflow;
    for (const char* name : {"eyeriss-v1", "eyeriss-v2", "tpu-v1", "nvdla-small", "simba"}) {
        const model::Machine on = machine(name);
        const auto report = analysis::run(network("alexnet"), on, by_rules);
        REQUIRE(report);
        for (const analysis::LayerReport& layer : report->layers) {
            CAPTURE(name);
            CAPTURE(layer.layer.name);
            const auto problems = model::problems_of(layer.layer).value();
            if (layer.mappings.size() != 1) {
                continue;
            }
            const auto& accelerator = std::get<model::Accelerator>(on.kind);
            const ArrayWork work = array_work(problems[0], accelerator, layer.mappings[0]);
            CHECK(static_cast<Count>(work.active.size()) == model::mac_units(accelerator));
            const double sum = std::accumulate(work.active.begin(), work.active.end(), 0.0);
            CHECK(sum * static_cast<double>(work.steps) ==
                  near(static_cast<double>(layer.macs), 1e-9));
            CHECK(sum == near(layer.active.averaged, 1e-9));
            const MappingScene scene = make_mapping_scene(on, layer, 0, 380.0);
            CHECK(scene.always + scene.sometimes + scene.idle == model::mac_units(accelerator));
            CHECK(static_cast<double>(scene.always + scene.sometimes) ==
                  near(layer.active.allocated));
            for (const DrawnBox& box : scene.drawing.boxes) {
                CHECK(box.box.left >= 0.0);
                CHECK(box.box.right() <= scene.drawing.canvas.width + 0.01);
                CHECK(box.box.bottom() <= scene.drawing.canvas.height + 0.01);
            }
        }
    }
}

TEST_CASE("on a GPU the picture counts tiles and waves") {
    model::Network net;
    model::Layer gemm;
    gemm.name = "g";
    gemm.shape = model::GemmShape{1, 4096, 4096, 1024};
    gemm.types = {model::DataType::fp16, model::DataType::fp16, model::DataType::fp16};
    net.layers = {gemm};
    const model::Machine a100 = machine("a100-sxm-40gb");
    const auto report = analysis::run(net, a100);
    REQUIRE(report);
    const MappingScene scene = make_mapping_scene(a100, report->layers[0], 0, 380.0);
    CHECK(scene.summary.find("CTAs") != std::string::npos);
    CHECK(scene.always == 108);
    CHECK(scene.averaged <= 108.0);
    bool told = false;
    for (const DrawnBox& box : scene.drawing.boxes) {
        told = told ||
               tip_at(scene.drawing, {box.box.left + 1, box.box.top + 1}) == "works in every wave";
    }
    CHECK(told);
}

TEST_CASE("an edited mapping is read back, costs what it costs, and changes the totals") {
    const model::Machine eyeriss = machine("eyeriss-v1");
    const analysis::Question question = tests::question_of(network("alexnet"), eyeriss);
    const auto report = analysis::run(question);
    REQUIRE(report);
    const std::string text = analysis::mapping_text(eyeriss, report->layers[0]);
    const auto same = analysis::parse_mapping(eyeriss, text);
    REQUIRE(same);
    CHECK(*same == report->layers[0].mappings[0]);
    const auto unchanged = analysis::with_mapping(*report, 0, question, *same);
    REQUIRE(unchanged);
    CHECK(unchanged->layers[0].time_s == near(report->layers[0].time_s));
    CHECK(unchanged->total.time_s == near(report->total.time_s));
    CHECK(analysis::difference_text(report->layers[0], unchanged->layers[0]).find("as before") !=
          std::string::npos);

    model::Mapping serial = *same; // nothing spread any more: every loop in time, outermost
    for (model::LevelMapping& level : serial.levels) {
        for (const model::SpatialLoop& loop : level.spatial) {
            serial.levels.front().temporal.insert(serial.levels.front().temporal.begin(),
                                                  {loop.dim, loop.bound});
        }
        level.spatial.clear();
    }
    const auto slow = analysis::with_mapping(*report, 0, question, serial);
    REQUIRE(slow);
    CHECK(slow->layers[0].active.allocated == 1.0);
    CHECK(slow->total.time_s > report->total.time_s);
    CHECK(analysis::difference_text(report->layers[0], slow->layers[0]).find("slower") !=
          std::string::npos);

    model::Mapping broken = *same;
    broken.levels.front().temporal.clear();
    const auto refused = analysis::with_mapping(*report, 0, question, broken);
    REQUIRE_FALSE(refused);
    CHECK(analysis::parse_mapping(eyeriss, "eyeroof: mapping/1\nlevels: 3\n")
              .diagnostics()
              .has_errors());
    CHECK_FALSE(analysis::parse_mapping(machine("l4"), text));
}

} // namespace eyeroof::report::test_mapping_scene
