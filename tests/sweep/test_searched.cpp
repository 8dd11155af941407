#include "analysis/exam/run.hpp"
#include "tests/near.hpp"
#include "tests/sweep/sources.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

namespace test_sweep_searched {

using namespace eyeroof;
using namespace eyeroof::analysis;
using tests::near;

namespace {

// A convolution, a product, a product of one row, and a sum that no array runs.
std::string small_network() {
    const auto file = std::filesystem::temp_directory_path() / "eyeroof-searched-sweep.csv";
    std::ofstream(file) << "name,op,dtype,m,n,k,c,h,w,r,s,pad,rows,cols,fn\n"
                           "conv,conv2d,int8,,1,32,16,12,12,3,3,1,,,\n"
                           "product,gemm,int8,48,96,64,,,,,,,,,\n"
                           "row,gemm,int8,1,120,256,,,,,,,,,\n"
                           "sum,elementwise,int8,,,,,,,,,,32,64,add\n";
    return file.string();
}

SweepGrid grid_of(const std::string& machine, const std::vector<std::string>& vary) {
    SweepQuestion asked = tests::question(small_network(), machine, vary);
    asked.scenario.policy = MappingPolicy::automatic;
    auto grid = SweepGrid::make(asked, tests::catalog_sources());
    REQUIRE(grid);
    return *std::move(grid);
}

// A sweep of all points has at some of them what an exam searches there.
std::uint64_t compare(const std::string& machine, const std::vector<std::string>& vary, int some) {
    const SweepGrid grid = grid_of(machine, vary);
    SweptWorkloads workloads;
    SweepEngine engine(grid, workloads, {});
    for (std::uint64_t first = 0, block = 1; first < grid.points(); first += block, block *= 2) {
        engine.prepare(first, std::min(first + block, grid.points()), 1);
        std::mt19937_64 random(first + 1);
        for (int n = 0; n < some; ++n) {
            const std::uint64_t point =
                first + random() % (std::min(first + block, grid.points()) - first);
            CAPTURE(machine);
            CAPTURE(vary.front());
            CAPTURE(point);
            const PointFigures swept = engine.at(point);
            const auto at = grid.at(point);
            const auto turned = grid.machine_at(at);
            REQUIRE(turned);
            const auto report = run(grid.question_at(at, *turned));
            REQUIRE(report);
            REQUIRE(swept.error.empty());
            // The product of each layer is the least there is: both are, whichever mapping of equal
            // value they have.
            CHECK(swept.of(SweptFigure::time_s) == near(report->total.time_s, 1e-9));
            CHECK(swept.of(SweptFigure::energy_j) == near(report->total.energy_j, 1e-9));
        }
    }
    return engine.searches_made();
}

} // namespace

TEST_CASE("a sweep that searches once for many points finds what a search at each finds") {
    compare("npu-int8", {"dram-link-bandwidth=1 GB/s:64 GB/s:3 GB/s"}, 2);
    compare("npu-int8", {"clock=100 MHz:2 GHz:100 MHz"}, 2);
    compare("npu-int8", {"axis-kernel=1:40:1"}, 2);
    compare("npu-int8", {"sram-input-output-capacity=32 KiB:512 KiB:x1.3"}, 2);
    compare("npu-int8", {"sram-input-output-energy=x0.5,x1,x2"}, 1);
    compare("nvdla-small", {"axis-channel=4,8,16", "dram-interface-bandwidth=x0.5,x1,x2"}, 1);
}

TEST_CASE("points that differ in a rate share searches") {
    const SweepGrid grid = grid_of("npu-int8", {"dram-link-bandwidth=8 GB/s:208 GB/s:1 GB/s"});
    REQUIRE(grid.points() == 201);
    SweptWorkloads workloads;
    SweepEngine engine(grid, workloads, {});
    engine.prepare(0, grid.points(), 1);
    for (std::uint64_t point = 0; point < grid.points(); ++point) {
        REQUIRE(engine.at(point).error.empty());
    }
    const std::uint64_t searches = engine.searches_made();
    CHECK(searches < 40);                // 603 at each point apart
    engine.prepare(0, grid.points(), 1); // what was proved holds for later points, too
    CHECK(engine.searches_made() < 2 * searches);
}

// 32, 96, and 120 kernels: rows of 33 to 47 PEs hold 32, 32, and 30 or 40 of them evenly.
TEST_CASE("sizes of an axis between two that a nest can use share a search") {
    const SweepGrid grid = grid_of("npu-int8", {"axis-kernel=33:47:1"});
    SweptWorkloads workloads;
    SweepEngine engine(grid, workloads, {});
    for (std::uint64_t point = 0; point < grid.points(); ++point) {
        engine.prepare(point, point + 1, 1);
        REQUIRE(engine.at(point).error.empty());
    }
    CHECK(engine.searches_made() <= 5); // 45 at each point apart
}

TEST_CASE("thousands of rates of a layer that rates bound in part take tens of searches") {
    const SweepGrid grid = grid_of("npu-int8", {"dram-link-bandwidth=1 GB/s:500 GB/s:0.25 GB/s"});
    REQUIRE(grid.points() == 1997);
    SweptWorkloads workloads;
    SweepEngine engine(grid, workloads, {});
    for (std::uint64_t first = 0, block = 1; first < grid.points(); first += block, block *= 2) {
        engine.prepare(first, std::min(first + block, grid.points()), 1);
    }
    CHECK(engine.searches_made() < 60); // of three nests
}

// 256 channels of 28 x 28 bytes in and out are 392 KiB: 256 KiB hold one of both, and hand over
// none.
TEST_CASE("no store takes a mapping that a larger one alone may hand activations over by") {
    const auto file = std::filesystem::temp_directory_path() / "eyeroof-handed-over.csv";
    std::ofstream(file) << "name,op,dtype,c,h,w,k,r,s,pad,groups\n"
                           "depthwise,conv2d,int8,256,28,28,256,3,3,1,256\n";
    SweepQuestion asked = tests::question(file.string(), "npu-int8",
                                          {"sram-input-output-capacity=256 KiB,512 KiB,1 MiB"});
    asked.scenario.policy = MappingPolicy::automatic;
    asked.scenario.objective = mapper::Objective::energy();
    auto grid = SweepGrid::make(asked, tests::catalog_sources());
    REQUIRE(grid);
    SweptWorkloads workloads;
    SweepEngine engine(*grid, workloads, {});
    engine.prepare(0, grid->points(), 1);
    for (std::uint64_t point = 0; point < grid->points(); ++point) {
        CAPTURE(point);
        const auto at = grid->at(point);
        const auto report = run(grid->question_at(at, *grid->machine_at(at)));
        REQUIRE(report);
        const PointFigures swept = engine.at(point);
        CHECK(swept.of(SweptFigure::energy_j) == near(report->total.energy_j, 1e-9));
        CHECK(swept.of(SweptFigure::outer_bytes) >= (point == 0 ? 2.0 * 256 * 28 * 28 : 0.0));
    }
}

TEST_CASE("a smaller machine runs what needs no more, and an easier one is as easy as both") {
    const auto machine = tests::catalog_sources().machine("npu-int8");
    REQUIRE(machine);
    const auto& accelerator = std::get<model::Accelerator>(machine->kind);
    const Ease own = ease_of(accelerator);
    CHECK(own.axes.size() == 2);
    CHECK(with_ease(accelerator, own) == accelerator);
    Ease slow = own;
    *std::find_if(slow.rates.begin(), slow.rates.end(),
                  [](double rate) { return std::isfinite(rate); }) *= 0.5;
    Ease small = own;
    small.capacities.front() -= 1.0;
    CHECK(covers(own, slow));
    CHECK(!covers(slow, small));
    CHECK(covers_sizes(slow, small));
    CHECK(easier(slow, small) == own);
    CHECK(without_ease(with_ease(accelerator, small)) == without_ease(accelerator));
}

} // namespace test_sweep_searched
