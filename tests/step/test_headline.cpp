// What binds is the resource of which twice as much gains most when examined, in every view.
#include "analysis/bound/bound.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/what_if/headline.hpp"
#include "analysis/what_if/parameters.hpp"
#include "report/answer/write.hpp"
#include "report/exam/answer.hpp"
#include "report/step/timeline_write.hpp"
#include "tests/near.hpp"
#include "tests/step/step_fixture.hpp"

#include <fmt/format.h>

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

analysis::Report examined(const analysis::Question& question) {
    auto report = analysis::run(question);
    REQUIRE(report.ok());
    analysis::find_headline(*report, question);
    REQUIRE(report->headline);
    return *std::move(report);
}

// The question with what the headline doubles.
analysis::Question doubled(analysis::Question question, const std::string& option) {
    if (option.starts_with("--host-speed ")) {
        question.scenario.host_speed = std::stod(option.substr(13));
        return question;
    }
    REQUIRE(option.starts_with("--set "));
    auto machine = analysis::changed(question.machine, std::vector<std::string>{option.substr(6)});
    REQUIRE(machine.ok());
    question.machine = *std::move(machine);
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

} // namespace test_step_headline
