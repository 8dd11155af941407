#include "analysis/exam/run.hpp"
#include "analysis/exam/trace_error.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/upgrade/upgrade.hpp"
#include "formats/trace_network.hpp"
#include "hwdb/catalog.hpp"
#include "profiles/import/importer.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"
#include "tests/traces.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

namespace test_analysis_traced {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
using eyeroof::tests::near;
using eyeroof::tests::TraceText;

namespace {

const std::string kBf16 = R"(["c10::BFloat16","c10::BFloat16","c10::BFloat16"])";

model::Machine machine_named(const std::string& name) {
    const std::vector<std::filesystem::path> folders = {eyeroof::tests::source_dir() + "/hwdb"};
    auto machine = hwdb::load_machine(name, folders);
    REQUIRE(machine.ok());
    return *std::move(machine);
}

formats::TraceNetwork network_of(const TraceText& trace) {
    const auto profile = profiles::import_profile(profiles::input_of_text(trace.text(), "t.json"));
    REQUIRE(profile.ok());
    auto made = formats::network_of_trace(*profile, "t.json");
    REQUIRE(made.ok());
    return *std::move(made);
}

Traced traced_on(const TraceText& trace, const model::Machine& machine) {
    auto said = traced(network_of(trace), &machine);
    REQUIRE(said.ok());
    return *std::move(said);
}

} // namespace

TEST_CASE("an operator of a trace stands beside its bound, by hand") {
    // 4096 x 4096 x 4096 in bf16 on an H100: 2 * 4096^3 / 989.4 TFLOP/s = 138.9 us;
    // its tensors, 3 * 32 MiB, take 30 us.
    TraceText trace;
    trace.op("aten::mm", "[[4096,4096],[4096,4096]]", kBf16);
    trace.kernel("nvjet_bf16", 200.0);
    const Traced said = traced_on(trace, machine_named("h100-sxm-80gb"));
    REQUIRE(said.rows.size() == 1);
    const TracedRow& row = said.rows[0];
    REQUIRE(row.bound_s);
    CHECK(*row.bound_s == near(2.0 * 4096 * 4096 * 4096 / 989.4e12));
    CHECK(row.bound_by == "bf16 arithmetic");
    CHECK(row.saves_s() == near(200e-6 - *row.bound_s));
    CHECK(row.placed());
    CHECK_FALSE(row.above_roof());
    CHECK(said.layered_share() == near(1.0));
    std::vector<std::string> roofs;
    for (const auto& roof : said.roofs) {
        roofs.push_back(roof.name);
    }
    CHECK(roofs == std::vector<std::string>{"bf16", "fp32", "DRAM", "L2"});
}

TEST_CASE("a kernel above its roof has a cause: what fits L2 never left it") {
    // 2 * 1 MiB at 3352 GB/s take 626 ns.
    TraceText trace;
    trace.op("aten::relu", "[[1024,512]]", kBf16);
    trace.kernel("relu", 0.5);
    const Traced said = traced_on(trace, machine_named("h100-sxm-80gb"));
    const TracedRow& row = said.rows.at(0);
    CHECK(row.above_roof());
    CHECK(row.cause.starts_with("its 2.1 MB fit L2"));
}

TEST_CASE("attention that is written out calls for one kernel, and for what it saves") {
    TraceText trace;
    trace.op("aten::bmm", "[[16,1024,64],[16,64,1024]]", kBf16);
    trace.kernel("gemm", 40.0);
    trace.next();
    trace.op("aten::mul", "[[16,1024,1024],[]]", kBf16);
    trace.kernel("mul", 30.0);
    trace.next();
    trace.op("aten::_softmax", "[[16,1024,1024],[],[]]", kBf16, R"(["","-1","False"])");
    trace.kernel("softmax", 50.0);
    trace.next();
    trace.op("aten::bmm", "[[16,1024,1024],[16,1024,64]]", kBf16);
    trace.kernel("gemm", 40.0);
    const Traced said = traced_on(trace, machine_named("h100-sxm-80gb"));
    const auto change = std::ranges::find_if(said.changes, [](const TracedChange& c) {
        return c.what.find("attention") != std::string::npos;
    });
    REQUIRE(change != said.changes.end());
    CHECK(change->saves_s == near(80e-6)); // softmax and the product with the scale
}

TEST_CASE("unaligned rows are named as the cause") {
    TraceText trace;
    trace.op("aten::mm", "[[4096,4096],[4096,4097]]", kBf16);
    trace.kernel("gemm_align1", 900.0);
    const Traced said = traced_on(trace, machine_named("h100-sxm-80gb"));
    CHECK(said.rows.at(0).cause == "rows not aligned to 16 bytes");
}

TEST_CASE("a vector has no rows to align") {
    TraceText trace;
    trace.op("aten::mv", "[[4096,4096],[4096]]", kBf16);
    trace.kernel("gemv", 900.0);
    trace.next();
    trace.op("aten::mv", "[[4096,4097],[4097]]", kBf16); // the matrix has
    trace.kernel("gemv", 800.0);
    const Traced said = traced_on(trace, machine_named("h100-sxm-80gb"));
    CHECK(said.rows.at(0).cause.find("aligned") == std::string::npos);
    CHECK(said.rows.at(1).cause == "rows not aligned to 16 bytes");
}

TEST_CASE("a trace's own times lie over an exam of it, all of them") {
    TraceText trace;
    for (int i = 0; i < 2; ++i) {
        trace.op("aten::addmm", "[[64],[128,256],[256,64],[],[]]", kBf16);
        trace.kernel("gemm_bf16", 10.0 + i);
        trace.next();
    }
    const auto made = network_of(trace);
    auto report = run(made.network, machine_named("h100-sxm-80gb"));
    REQUIRE(report.ok());
    REQUIRE(lay_profile(*report, made.profile, nullptr).ok());
    REQUIRE(report->layers.size() == 1);
    REQUIRE(report->layers[0].measured);
    CHECK(report->layers[0].measured->executions == 2);
    CHECK(report->layers[0].measured->kernel_s == near(10.5e-6));
    CHECK(report->layers[0].measured->method == profiles::MatchMethod::op_dims);
    CHECK(report->measured->matched_share == near(1.0));
}

TEST_CASE("from measured times an upgrade takes what errors share, and leaves idle time as it is") {
    // Predicted 4 -> 1 and 2 -> 2 ms; measured 8 and 2 ms of a step of 15 ms, 5 of them idle or
    // not known. Without intervals of the model kRunShared of an error is shared: 1 ms x (8 / 4)^k.
    Report before, after;
    for (const auto& [name, old_s, new_s] :
         {std::tuple{"a", 4e-3, 1e-3}, std::tuple{"b", 2e-3, 2e-3}}) {
        LayerReport layer;
        layer.layer.name = name;
        layer.time_s = old_s;
        layer.low_s = 0.5 * old_s;
        layer.wait_s = 1e-3;
        before.layers.push_back(layer);
        layer.time_s = new_s;
        after.layers.push_back(layer);
    }
    take_measured({{{"a", 8e-3, {}, false}, {"b", 2e-3, {}, false}}, 15e-3, 4e-3, 1e-3, ""}, before,
                  after);
    CHECK(before.layers[0].time_s == near(8e-3));
    CHECK(*before.layers[0].low_s == near(4e-3));
    const double first = 1e-3 * std::pow(2.0, kRunShared);
    CHECK(after.layers[0].time_s == near(first));
    CHECK(before.layers[0].wait_s == 0.0);
    CHECK(before.total.time_s == near(15e-3));
    CHECK(after.total.time_s == near(5e-3 + 10e-3 * (first + 2e-3) / 10e-3));
}

} // namespace test_analysis_traced
