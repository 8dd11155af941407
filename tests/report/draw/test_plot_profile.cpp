#include "report/draw/plot_profile.hpp"
#include "tests/near.hpp"

#include <doctest/doctest.h>

namespace test_report_draw_plot_profile {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

profiles::Profile measured() {
    profiles::ProfileBuilder built;
    built.profile.run.gpu = "Some CPU";
    built.source("s");
    built.profile.ceilings = {
        {.name = "l1 read", .level = "l1", .value = 8e11},
        {.name = "dram read", .level = "dram", .value = 2e10},
        {.name = "dram triad", .level = "dram", .value = 1e10},
        {.name = "fma fp32", .precision = "fp32", .pipe = "fma", .value = 1e12},
        {.name = "launch", .value = 5e-6}};
    profiles::Launch launch;
    launch.kernel = built.kernel("axpy");
    launch.duration_ns = 1e9;
    launch.counters = {{"flops.fp32", 2e9}, {"bytes.dram", 1e10}, {"ffma", 1e6}};
    built.profile.launches = {launch};
    return built.profile;
}

} // namespace

TEST_CASE("measured ceilings make a machine with one roof a level and precision, the highest") {
    report::PlotInput input;
    report::add_ceilings(input, "here", measured());
    REQUIRE(input.machines.size() == 1);
    CHECK(input.machines[0].name == "Some CPU");
    REQUIRE(input.machines[0].roofs.size() == 3); // l1, dram, fp32; a launch time is no roof
    for (const analysis::Roof& roof : input.machines[0].roofs) {
        CHECK(roof.measured);
        if (roof.key == "dram") {
            CHECK(roof.value == 2e10);
        }
    }
}

TEST_CASE("ceilings go to the machine that is there, beside its described roofs") {
    report::PlotInput input;
    analysis::Roof dram;
    dram.id = "m/memory/DRAM";
    dram.machine = "m";
    dram.kind = analysis::RoofKind::memory;
    dram.key = "DRAM";
    dram.value = 5e10;
    input.machines.push_back({"m", "M", {dram}});
    report::add_ceilings(input, "m", measured());
    REQUIRE(input.machines.size() == 1);
    CHECK(input.machines[0].name == "M");
    CHECK(input.machines[0].roofs.size() == 4);
    REQUIRE(report::add_profile(input, "m", measured()).ok());
    REQUIRE(input.points.size() == 1);
    // 2e9 FLOP over 1e10 B = 0.2 FLOP/B below a measured 2e10 B/s: 4e9 FLOP/s; the layer does 2e9
    const auto limit = report::limit_of(input.machines[0], input.points[0]);
    REQUIRE(limit);
    CHECK(limit->flops_per_s == near(4e9));
    CHECK(limit->by->measured);
}

TEST_CASE("a metric family turns a tool's own counters into operations") {
    profiles::MetricFamily family;
    family.work = {{"fp32", "fma", {{"ffma", 2.0}}}};
    profiles::Profile profile = measured();
    profile.launches[0].counters.erase("flops.fp32");
    report::PlotInput without, with;
    REQUIRE(report::add_profile(without, "m", profile).ok());
    REQUIRE(without.points.size() == 1); // a row of tables
    CHECK_FALSE(without.points[0].has_place());
    REQUIRE(report::add_profile(with, "m", profile, {}, &family).ok());
    REQUIRE(with.points.size() == 1);
    CHECK(with.points[0].flops == 2e6);
}

} // namespace test_report_draw_plot_profile
