// What binds is the resource of which twice as much gains most when examined, in every view.
#include "analysis/bound/bound.hpp"
#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "analysis/what_if/parameters.hpp"
#include "report/answer/write.hpp"
#include "report/exam/answer.hpp"
#include "report/step/timeline_write.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <fmt/format.h>

#include <sstream>

namespace test_step_headline {

using namespace eyeroof;
using tests::near;

namespace {

model::Machine catalog_machine(const std::string& name) {
    const std::vector<std::filesystem::path> folders{std::filesystem::path(tests::source_dir()) /
                                                     "hwdb"};
    auto machine = hwdb::load_machine(name, folders);
    REQUIRE(machine.ok());
    return *std::move(machine);
}

model::NetworkGraph one_layer(const std::string& shape) {
    auto file = formats::parse_network_yaml(
        "name: one\nlayers:\n  - {name: a, " + shape + ", dtype: fp16}\n", "net.yaml");
    REQUIRE(file.ok());
    return {file->network, file->edges};
}

analysis::Report examined(const analysis::Question& question) {
    auto report = analysis::run(question);
    REQUIRE(report.ok());
    analysis::find_headline(*report, question);
    REQUIRE(report->headline);
    return *std::move(report);
}

// The question with what the headline doubles: "--host-speed 2", "--set KEY=x2", or two of these.
analysis::Question doubled(analysis::Question question, const std::string& options) {
    std::istringstream words(options);
    std::vector<std::string> sets;
    for (std::string option, value; words >> option >> value;) {
        if (option == "--host-speed") {
            question.scenario.host_speed = std::stod(value);
        } else {
            REQUIRE(option == "--set");
            sets.push_back(value);
        }
    }
    if (!sets.empty()) {
        auto machine = analysis::changed(question.machine, sets);
        REQUIRE(machine.ok());
        question.machine = *std::move(machine);
    }
    return question;
}

} // namespace

TEST_CASE("launches bind a step whose host is slower than its kernels, in every view") {
    analysis::Scenario scenario;
    scenario.batch = 32;
    const auto question = tests::catalog_question("resnet50", "a100-sxm-40gb", scenario);
    const analysis::Report report = examined(question);
    CHECK(report.headline->resource == "CPU launch overhead");
    const std::string line = report::bottleneck_text(report);
    CHECK(line == "Bound by CPU launch overhead");
    const std::string saving = report::largest_saving_text(report);
    const auto& gpu = std::get<model::Gpu>(question.machine.kind);
    const std::string timeline = report::to_text(report::timeline_answer({report, gpu}), 80);
    CHECK(timeline.find(line + "\n") != std::string::npos);
    CHECK(timeline.find(saving.substr(0, 40)) != std::string::npos);
    const auto bound = analysis::bound::bound(question);
    REQUIRE(bound.ok());
    CHECK(bound->headline == report.headline);
}

TEST_CASE("weights bind a vector times a matrix on a systolic array, not its empty rows") {
    const auto file = formats::parse_network_yaml(
        "name: one\nlayers:\n  - {name: a, op: gemm, m: 1, n: 4096, k: 4096, dtype: int8}\n",
        "net.yaml");
    REQUIRE(file.ok());
    auto question = tests::question_of(file->network, catalog_machine("npu-int8"));
    const analysis::Report report = examined(question);
    CHECK(report.headline->resource.find("bandwidth") != std::string::npos);
    // At twice the bandwidth of the DRAM link the columns take 64 weights a cycle of 1 GHz.
    CHECK(report.headline->saved_s == near(report.total.time_s - 4096.0 * 4096.0 / 64e9, 0.02));
}

TEST_CASE("the named saving is what examining its change again gives, and no other gains more") {
    for (const char* machine : {"t4", "h100-sxm-80gb", "npu-int8", "eyeriss-v1"}) {
        CAPTURE(machine);
        auto question = tests::question_of(tests::catalog_network("alexnet"), {});
        question.machine = catalog_machine(machine);
        question.scenario.search_nodes = 2000;
        const analysis::Report report = examined(question);
        const auto all = analysis::doubled_resources(question, report);
        for (const auto& one : all) {
            CHECK(one.saved_s <= 1.02 * report.headline->saved_s);
        }
        REQUIRE(!all.empty());
        const auto again = analysis::run(doubled(question, report.headline->option));
        REQUIRE(again.ok());
        CHECK(report.total.time_s - again->total.time_s == near(report.headline->saved_s, 0.05));
    }
}

TEST_CASE("what saves less than a twentieth binds little, and the sentence says so") {
    analysis::Headline one{"axis column", "twice the axis column", "--set axis-column=x2", 0.971,
                           0.029};
    CHECK(analysis::bound_by_text(one) ==
          "Bound by no single resource: twice as much of any one saves at most 2.9 %");
    CHECK(analysis::bound_by_name(one) == "no single resource");
    CHECK(analysis::largest_saving_text(one, 1.0) ==
          "Largest saving: 29 ms (2.9 %) with twice the axis column (--set axis-column=x2)");
    one.saved_s = 0.0291; // rounded up, so that the sentence is true
    one.time_s = 0.9709;
    CHECK(analysis::bound_by_text(one).ends_with("saves at most 3.0 %"));
    CHECK(analysis::largest_saving_text(one, 1.0).find("(2.9 %)") != std::string::npos);
    one.capped = true;
    CHECK(analysis::bound_by_text(one) ==
          "Bound by no single resource under the power cap: neither twice as much of any one nor "
          "its end saves more than 3.0 %");
    one.time_s = 0.95;
    one.saved_s = 0.05;
    CHECK(analysis::bound_by_text(one) == "Bound by axis column");
    CHECK(analysis::bound_by_text({}) ==
          "Bound by no single resource: twice as much of any one saves less than 0.1 %");
}

TEST_CASE(
    "an option on a changed machine names the value, which twice the catalog's would not be") {
    auto question = tests::question_of(
        one_layer("op: elementwise, rows: 8192, cols: 8192, fn: relu"), catalog_machine("t4"));
    question.scenario.launch = model::Launch::none;
    question.scenario.changes = {"dram-bandwidth=240 GB/s"};
    const model::Machine origin = question.machine;
    const auto on = [&](const std::vector<std::string>& texts) {
        auto machine = analysis::changed(origin, texts);
        REQUIRE(machine.ok());
        question.machine = *std::move(machine);
    };
    on(question.scenario.changes);
    const analysis::Report report = examined(question);
    CHECK(report.headline->option == "--set dram-bandwidth=480GB/s");
    on({question.scenario.changes[0], "dram-bandwidth=480GB/s"});
    const auto again = analysis::run(question);
    REQUIRE(again.ok());
    CHECK(again->total.time_s == near(report.headline->time_s));
}

TEST_CASE("a power cap whose end gains most binds, and leaving it out gives what is said") {
    auto question = tests::question_of(one_layer("op: gemm, m: 8192, n: 8192, k: 8192"),
                                       catalog_machine("h100-sxm-80gb"));
    question.scenario.launch = model::Launch::none;
    const auto free = analysis::run(question);
    REQUIRE(free.ok());
    question.scenario.changes = {"Power Cap = 200 W"};
    question.uncapped = analysis::uncapped(question.machine, question.scenario.changes);
    REQUIRE(question.uncapped);
    auto capped = analysis::changed(question.machine, question.scenario.changes);
    REQUIRE(capped.ok());
    question.machine = *std::move(capped);
    const analysis::Report report = examined(question);
    CHECK(analysis::bound_by_text(*report.headline) == "Bound by power cap");
    CHECK(report.headline->time_s == free->total.time_s);
    CHECK(report::largest_saving_text(report).ends_with("with no power cap (without --power-cap)"));
}

TEST_CASE("only a cap below the limit in force can be ended") {
    const model::Machine h100 = catalog_machine("h100-sxm-80gb");
    CHECK_FALSE(analysis::uncapped(h100, {"power-cap=900 W"}));
    CHECK_FALSE(analysis::uncapped(h100, {"power-cap=500 W", "power-limit=400 W"}));
    CHECK_FALSE(analysis::uncapped(h100, {"power-limit=400 W"}));
    const auto free = analysis::uncapped(h100, {"power-cap=300 W", "power-limit=400 W"});
    REQUIRE(free);
    CHECK(std::get<model::Gpu>(free->kind).tdp_w == near(400.0));
}

TEST_CASE("board power times time is an upper bound of energy, measured power is none") {
    auto question = tests::question_of(one_layer("op: gemm, m: 64, n: 64, k: 64"),
                                       catalog_machine("h100-sxm-80gb"));
    analysis::Report report = examined(question);
    const auto joules = [&] { return report::total_parts(report).back(); };
    CHECK(joules().starts_with("at most "));
    CHECK(analysis::energy_basis(report) == "board power x time, an upper bound");
    report.layers[0].measured_power = true;
    CHECK(!joules().starts_with("at most "));
    CHECK(analysis::energy_basis(report) ==
          "measured power of kernels x time, and board power x time for the rest");
}

// Launches of 128 us, and kernels that read and write 178 MB at 1.4 TB/s.
TEST_CASE("two resources that hold a step equally are named together") {
    const auto file = formats::parse_network_yaml(
        "name: one\nlayers:\n  - {name: a, op: elementwise, rows: 8192, cols: 2720, fn: relu, "
        "dtype: fp32, count: 200}\n",
        "net.yaml");
    REQUIRE(file.ok());
    auto question = tests::question_of(file->network, catalog_machine("a100-sxm-40gb"));
    question.scenario.host_speed = 0.3125;
    const analysis::Report report = examined(question);
    CHECK(report.headline->resource.ends_with(" together"));
    CHECK(report.headline->resource.find("CPU launch overhead") != std::string::npos);
    CHECK(report.headline->resource.find("DRAM bandwidth") != std::string::npos);
    for (const auto& one : analysis::doubled_resources(question, report)) {
        CHECK(one.saved_s < 0.05 * report.total.time_s);
    }
    const auto again = analysis::run(doubled(question, report.headline->option));
    REQUIRE(again.ok());
    CHECK(again->total.time_s == report.headline->time_s);
}

} // namespace test_step_headline
