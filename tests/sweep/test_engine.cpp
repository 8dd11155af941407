#include "analysis/exam/run.hpp"
#include "tests/sweep/sources.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace test_sweep_engine {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;

namespace {

// What run() says at a point.
PointFigures by_run(const SweepGrid& grid, std::uint64_t point) {
    const auto at = grid.at(point);
    const auto machine = grid.machine_at(at);
    PointFigures figures;
    const auto report =
        machine ? run(grid.question_at(at, *machine)) : Result<Report>(machine.diagnostics());
    if (!report) {
        figures.error = "some";
        return figures;
    }
    const Total& t = report->total;
    figures.values = {t.time_s,      t.energy_j, t.energy_j * t.time_s,
                      t.outer_bytes, t.macs,     t.utilization};
    return figures;
}

void check_some(const SweepQuestion& asked, int cases) {
    const auto grid = SweepGrid::make(asked, tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    std::mt19937_64 random(7);
    for (int i = 0; i < cases; ++i) {
        const std::uint64_t point = random() % grid->points();
        CAPTURE(asked.scenario.machine);
        CAPTURE(point);
        PointFigures swept = engine.at(point);
        swept.error = swept.error.empty() ? "" : "some";
        const PointFigures examined = by_run(*grid, point);
        CHECK(swept.error == examined.error);
        for (std::size_t f = 0; f < kSweptFigures; ++f) {
            CAPTURE(kSweptFigureNames[f]);
            CHECK(swept.values[f] == examined.values[f]); // digit for digit
        }
    }
}

// Sweeps over a machine of the catalog whose text is changed: what stands first is replaced.
void check_changed(const char* machine, const std::vector<std::array<std::string, 2>>& changes,
                   const std::vector<std::string>& vary, int cases) {
    std::ifstream in(std::filesystem::path(tests::source_dir()) / "hwdb/accelerators" /
                     (std::string(machine) + ".yaml"));
    std::string text((std::istreambuf_iterator<char>(in)), {});
    for (const auto& [from, to] : changes) {
        const auto at = text.find(from);
        REQUIRE(at != std::string::npos);
        text.replace(at, from.size(), to);
    }
    const auto file = std::filesystem::temp_directory_path() / "eyeroof-changed-machine.yaml";
    std::ofstream(file) << text;
    check_some(tests::question("alexnet", file.string(), vary), cases);
    std::filesystem::remove(file);
}

} // namespace

TEST_CASE("a sweep's figures are those of an exam, digit for digit") {
    check_some(tests::question("resnet50", "npu-int8",
                               {"axis-kernel=8:64:8", "axis-channel=7,16,33",
                                "sram-input-output-capacity=64 KiB:4 MiB:x2",
                                "dram-link-bandwidth=1 GB/s:400 GB/s:7 GB/s", "batch=1,3,4"}),
               40);
    check_some(tests::question("alexnet", "eyeriss-v1",
                               {"clock=50 MHz:1 GHz:50 MHz", "dram-link-bandwidth=1 GB/s,x3",
                                "batch=1,4", "axis-x=8:16:2"}),
               25);
    check_some(tests::question("mobilenet-v1", "tpu-v1",
                               {"clock=x0.5,x1,x2", "batch=1,8", "dataflow=ws,free"}),
               6);
}

TEST_CASE("a power cap and a flag that are varied count as in an exam") {
    auto asked = tests::question("resnet50", "a100-sxm-80gb",
                                 {"power-cap=150W,400W", "compiled=true,false", "batch=64"});
    const auto grid = SweepGrid::make(asked, tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    const auto time_s = [&](std::uint64_t point) {
        return engine.at(point).of(SweptFigure::time_s);
    };
    CHECK(time_s(0) > 1.2 * time_s(2));
    CHECK(time_s(1) > 1.2 * time_s(3));
    CHECK(time_s(2) < time_s(3)); // compiled, and as a framework runs it
    check_some(asked, 4);
}

TEST_CASE("a power cap holds below the power limit that a point sets, or its point is refused") {
    auto asked = tests::question("resnet50", "a100-sxm-80gb",
                                 {"power-limit=400W,4000W", "power-cap=100W", "batch=64"});
    const auto figures = [](const SweepQuestion& question, std::uint64_t point) {
        const auto grid = SweepGrid::make(question, tests::catalog_sources());
        REQUIRE(grid);
        SweptWorkloads workloads;
        return SweepEngine(*grid, workloads, {}).at(point);
    };
    const PointFigures varied = figures(asked, 0);
    CHECK(varied.error.empty());
    CHECK(figures(asked, 1).error.find("tenth of the power limit") != std::string::npos);
    asked.vary = {"power-limit=400W", "batch=64"};
    CHECK(figures(asked, 0).of(SweptFigure::time_s) < varied.of(SweptFigure::time_s));
    asked.scenario.changes = {"power-cap=100W"}; // of every point
    CHECK(figures(asked, 0).of(SweptFigure::time_s) == varied.of(SweptFigure::time_s));
}

TEST_CASE("every size of an array has an exam's figures, whatever was counted for other sizes") {
    check_some(tests::question("alexnet", "npu-int8",
                               {"axis-kernel=1:17:1", "axis-channel=1,2,3,31,32,33,120",
                                "dataflow=ws,os", "sram-input-output-capacity=64 KiB,2 MiB"}),
               40);
    check_some(
        tests::question("mobilenet-v1", "gemmini", {"axis-column=1:20:1", "axis-row=1:20:1"}), 15);
    check_some(tests::question("alexnet", "eyeriss-v2", {"axis-cluster.y=1:8:1", "batch=1,2"}), 6);
    // Both axes of a row-stationary array.
    check_some(tests::question("alexnet", "eyeriss-v1", {"axis-y=12,24", "axis-x=13:60:1"}), 40);
}

// Of 33 to 64 columns, 96 filters take 3 passes or 2, 128 filters 4, 3 or 2: between two of these
// numbers all sizes share one mapping.
TEST_CASE("sizes of an array with as many passes are mapped once") {
    SweepQuestion convolutions =
        tests::question("alexnet", "npu-int8", {"axis-kernel=33:64:1", "axis-channel=33:64:1"});
    convolutions.scenario.layers = "CONV.*";
    const auto grid = SweepGrid::make(convolutions, tests::catalog_sources());
    REQUIRE(grid);
    REQUIRE(grid->points() == 32 * 32);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    for (std::uint64_t point = 0; point < grid->points(); ++point) {
        REQUIRE(engine.at(point).error.empty());
    }
    CHECK(engine.mapped() > 5);
    CHECK(engine.mapped() * 5 < grid->points() * 5); // a fifth of one for each of the five layers
}

TEST_CASE("attention's two nests, training and other machines come out as in an exam") {
    SweepQuestion training = tests::question(
        "alexnet", "nvdla-large", {"batch=1,2", "clock=x1,x2", "phase=inference,training"});
    check_some(training, 6);
    check_some(tests::question("bert-base", "npu-int8", {"network.seq=64,128", "clock=x1,x2"}), 4);
    check_some(tests::question("alexnet", "any", {"machine=eyeriss-v1,npu-int8", "batch=1,2"}), 4);
    check_some(tests::question("any", "a100-sxm-40gb",
                               {"network=alexnet,resnet50", "dram-bandwidth=x1,x2", "batch=1,8"}),
               6);
}

TEST_CASE("what leaks is in a sweep's energy as in an exam's, idle units or not") {
    for (const char* gated : {"false", "true"}) {
        CAPTURE(gated);
        check_changed("nvdla-large",
                      {{"mac_energy:", "mac_leakage: {value: 0.3 pJ/cycle, source: none, "
                                       "confidence: user}\ngates_idle: " +
                                           std::string(gated) + "\nmac_energy:"},
                       {"sources:\n", "sources:\n  none: for this test\n"}},
                      {"clock=x0.5,x1", "batch=1,4", "axis-kernel=30:36:1"}, 8);
    }
}

TEST_CASE("links that follow from an array's size follow it in a sweep") {
    check_changed("npu-int8",
                  {{"down: {value: 64 words/cycle, confidence: derived, note: \"one word a row or "
                    "column\"}\n        cast: multicast",
                    "network: {topology: mesh, link: 16 B/cycle, link_energy: 0.5 pJ}\n"
                    "        cast: unicast"}},
                  {"axis-kernel=1:40:1", "axis-channel=8,64,65"}, 12);
}

TEST_CASE("a point that cannot be mapped says why and the others stand") {
    const auto grid =
        SweepGrid::make(tests::question("alexnet", "eyeriss-v1", {"dtype=fp16,fp32", "batch=1,2"}),
                        tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    CHECK(engine.at(0).error.empty());
    CHECK(engine.at(2).error.starts_with("unsupported-type"));
    CHECK(engine.at(1).of(SweptFigure::time_s) > engine.at(0).of(SweptFigure::time_s));
}

TEST_CASE("a point whose stores hold no mapping's tiles says which store is short") {
    const auto grid =
        SweepGrid::make(tests::question("alexnet", "eyeriss-v1", {"spad-input-capacity=1 B,24 B"}),
                        tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    CHECK(engine.at(1).error.empty());
    const std::string error = engine.at(0).error; // a word has two bytes
    CHECK(error.starts_with("no-mapping: CONV1: "));
    CHECK(error.find("spad need 2 of its 1 bytes") != std::string::npos);
}

// Timeloop's counting keeps all of a strided convolution's input, which eyeroof's does not.
TEST_CASE("a batch whose tiles do not fit by Timeloop's counting is refused as by an exam") {
    SweepQuestion asked = tests::question("resnet18", "tpu-v1", {"batch=1,128"});
    asked.scenario.layers = "conv3_1_proj";
    asked.scenario.counting = model::Counting::timeloop;
    const auto grid = SweepGrid::make(asked, tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    CHECK(engine.at(0).error.empty());
    CHECK(engine.at(0).of(SweptFigure::time_s) == by_run(*grid, 0).of(SweptFigure::time_s));
    CHECK(engine.at(1).error.starts_with("over-capacity: the tiles in unified buffer need "));
    CHECK_FALSE(by_run(*grid, 1).error.empty());
}

TEST_CASE("rows do not depend on threads") {
    const auto grid = SweepGrid::make(
        tests::question("alexnet", "npu-int8",
                        {"axis-kernel=8:64:8", "clock=100 MHz:1 GHz:10 MHz", "batch=1,2,4"}),
        tests::catalog_sources());
    REQUIRE(grid);
    REQUIRE(grid->points() == 8 * 91 * 3);
    const std::string one = tests::rows_of(*grid, {0, grid->points()}, 1);
    CHECK(tests::rows_of(*grid, {0, grid->points()}, 5) == one);
}

TEST_CASE("the blocks of a sweep name as many points as they have rows") {
    // 9 x 1001 points are more than a block has: blocks are turns of the clock's 1001 values.
    const auto grid =
        SweepGrid::make(tests::question("alexnet", "npu-int8",
                                        {"axis-kernel=8:72:8", "clock=100 MHz:1100 MHz:1 MHz"}),
                        tests::catalog_sources());
    REQUIRE(grid);
    REQUIRE(grid->points() == 9 * 1001);
    const PointRange range{3, 3 + 1001 + 500};
    std::vector<std::uint64_t> blocks;
    run_sweep(
        *grid, range, 2, [](std::uint64_t, const PointFigures&) { return std::string("row\n"); },
        [&](std::string_view rows, std::uint64_t named) {
            CHECK(named == static_cast<std::uint64_t>(std::ranges::count(rows, '\n')));
            blocks.push_back(named);
            return true;
        },
        {}, {});
    CHECK(blocks == std::vector<std::uint64_t>{1001, 500});
}

TEST_CASE("shards follow each other and differ by one point at most") {
    CHECK(shard_of(10, 1, 3) == PointRange{0, 4});
    CHECK(shard_of(10, 2, 3) == PointRange{4, 7});
    CHECK(shard_of(10, 3, 3) == PointRange{7, 10});
    CHECK(shard_of(2, 3, 3) == PointRange{2, 2});
}

} // namespace test_sweep_engine
