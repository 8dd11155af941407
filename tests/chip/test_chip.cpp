// Area and power of whole chips by component.
#include "analysis/chip/chip.hpp"
#include "analysis/chip/chip_figures.hpp"
#include "analysis/exam/run.hpp"
#include "hwdb/catalog.hpp"
#include "hwdb/technology_reader.hpp"
#include "report/answer/write.hpp"
#include "report/answers/answers.hpp"
#include "report/chip/chip_answer.hpp"
#include "tests/json_schema.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace test_chip_chip {

using namespace eyeroof;
using eyeroof::tests::near;

namespace {

const std::filesystem::path kRoot = tests::source_dir();
const std::vector<std::filesystem::path> kFolders{kRoot / "hwdb"};

model::Machine machine(const char* name) {
    const auto found = hwdb::load_machine(name, kFolders);
    REQUIRE(found.ok());
    return *found;
}

model::Technology technology() {
    const auto read = hwdb::load_technology(kFolders);
    REQUIRE(read.ok());
    return *read;
}

analysis::ChipReport silicon(const char* name, std::optional<double> nm = {},
                             const std::vector<analysis::NamedArea>& areas = {}) {
    const auto report = analysis::chip_report(machine(name), technology(), nm, areas, nullptr);
    REQUIRE(report.ok());
    return *report;
}

analysis::Report conv3_on_eyeriss() {
    model::Network network;
    network.id = "one";
    network.name = "one";
    model::Layer layer;
    layer.name = "product";
    layer.op = model::Op::gemm;
    layer.shape = model::GemmShape{1, 64, 64, 64};
    network.layers.push_back(layer);
    analysis::Scenario scenario;
    scenario.threads = 1;
    const auto report = analysis::run(network, machine("eyeriss-v1"), scenario);
    REQUIRE(report.ok());
    return *report;
}

std::string words_of(const Diagnostics& found) {
    std::string words;
    for (const Diagnostic& one : found) {
        words += to_string(one) + "\n";
    }
    return words;
}

} // namespace

TEST_CASE("estimated areas of published chips are within a factor of three") {
    const auto t = technology();
    std::size_t seen = 0;
    for (const model::PublishedChip& chip : t.chips) {
        if (chip.area_mm2 <= 0.0 || chip.machine == "simba") {
            continue; // a Simba die is mostly links and a processor, none of which is described
        }
        CAPTURE(chip.machine);
        const double share = silicon(chip.machine.c_str()).area_mm2 / chip.area_mm2;
        CHECK(share > 1.0 / 3.0);
        CHECK(share < 1.5);
        ++seen;
    }
    CHECK(seen == 6);
}

TEST_CASE("parts add up to the chip, and everything shrinks with the process") {
    const auto large = silicon("eyeriss-v1");
    const auto small = silicon("eyeriss-v1", 16.0);
    double sum = 0.0;
    REQUIRE(large.parts.size() == small.parts.size());
    for (std::size_t i = 0; i < large.parts.size(); ++i) {
        sum += large.parts[i].part.area_mm2;
        CHECK(small.parts[i].part.area_mm2 < large.parts[i].part.area_mm2);
    }
    CHECK(sum == near(large.area_mm2));
    CHECK(large.published.has_value());
    CHECK_FALSE(small.published.has_value()); // no chip of that process was published
}

TEST_CASE("energy of the parts adds up to the power, MACs by hand") {
    const auto exam = conv3_on_eyeriss();
    const auto report = analysis::chip_report(machine("eyeriss-v1"), technology(), {}, {}, &exam);
    REQUIRE(report.ok());
    double watts = 0.0;
    for (const analysis::ChipPartReport& line : report->parts) {
        watts += line.power_w;
        if (line.part.kind == model::PartKind::mac) {
            CHECK(line.energy_j == near(64.0 * 64 * 64 * line.part.use_pj * 1e-12));
        }
        if (line.part.name == "ifmap network") {
            CHECK(line.energy_j > 0.0); // sent by a level further out
        }
    }
    CHECK(watts == near(report->power_w));
    CHECK(report->energy_j == near(report->power_w * exam.total.time_s));
}

TEST_CASE("a table of areas stands instead of estimates, and what is no level is told") {
    const auto areas =
        analysis::parse_area_table("ART:\n  version: 0.4\n  tables:\n"
                                   "    - {name: 'chip.PE[0..167].spad', area: 5000}\n"
                                   "    - {name: 'chip.router[1..4]', area: 250000}\n",
                                   "art.yaml");
    REQUIRE(areas.ok());
    REQUIRE(areas->size() == 2);
    CHECK((*areas)[0] == analysis::NamedArea{"spad", 168.0, 5000.0});
    const auto report = silicon("eyeriss-v1", {}, *areas);
    double spads = 0.0;
    for (const analysis::ChipPartReport& line : report.parts) {
        spads += line.part.level == "spad" ? line.part.area_mm2 : 0.0;
    }
    CHECK(spads == near(168 * 5000 * 1e-6));
    REQUIRE(report.only_in_table.size() == 1);
    CHECK(report.only_in_table[0].name == "router");
    CHECK(report::to_text(report::chip_answer(report), 80).find("router") != std::string::npos);
}

TEST_CASE("broken tables of areas are refused with their place") {
    for (const char* text :
         {"ART: {tables: [{name: 'a[3..1]', area: 1}]}", "ART: {tables: [{name: a, area: -1}]}",
          "ART: {tables: [{name: 'a[', area: 1}]}", "ART: {tables: []}", "ERT: {}", "[]", ""}) {
        CAPTURE(text);
        const auto read = analysis::parse_area_table(text, "art.yaml");
        CHECK_FALSE(read.ok());
        CHECK(words_of(read.diagnostics()).find("art.yaml") != std::string::npos);
    }
}

TEST_CASE("a GPU and a machine without a known process are refused with what to do") {
    const auto gpu =
        analysis::chip_report(machine("v100-pcie-16gb"), technology(), {}, {}, nullptr);
    CHECK_FALSE(gpu.ok());
    const auto own = analysis::chip_report(machine("systolic:8x8"), technology(), {}, {}, nullptr);
    REQUIRE_FALSE(own.ok());
    CHECK(words_of(own.diagnostics()).find("--process") != std::string::npos);
    CHECK(silicon("systolic:8x8", 28.0).area_mm2 > 0.0);
}

TEST_CASE("the JSON of a chip keeps to its schema, the CSV has a line a part") {
    const auto exam = conv3_on_eyeriss();
    const auto report = analysis::chip_report(machine("eyeriss-v1"), technology(), {}, {}, &exam);
    REQUIRE(report.ok());
    const auto schema = nlohmann::json::parse(report::schema_of("chip"));
    const auto json = nlohmann::json::parse(report::to_json(report::chip_answer(*report)));
    CHECK(tests::SchemaCheck(schema).faults(json).empty());
    const std::string csv = report::to_csv(report::chip_answer(*report));
    CHECK(std::count(csv.begin(), csv.end(), '\n') ==
          static_cast<std::ptrdiff_t>(report->parts.size()) + 1);
}

TEST_CASE(
    "an examination tells the chip's area and energy where a process is known, else nothing") {
    analysis::Report report = conv3_on_eyeriss();
    CHECK(analysis::add_chip(machine("eyeriss-v1"), technology(), report).empty());
    REQUIRE(report.chip);
    const auto whole = analysis::chip_report(machine("eyeriss-v1"), technology(), {}, {}, &report);
    CHECK(report.chip->area_mm2 == whole->area_mm2);
    CHECK(report.chip->energy_j == whole->energy_j);
    CHECK(report.chip->energy_j > 0.0);
    CHECK(report.chip->energy_j_per_mm2() == near(whole->energy_j / whole->area_mm2, 1e-12));
    CHECK(report.chip->confidence == "recalled");

    model::Machine own = machine("eyeriss-v1");
    own.id = "mine";
    report.chip.reset();
    CHECK(analysis::add_chip(own, technology(), report).empty());
    CHECK(!report.chip);
    own.process_nm = 28.0;
    CHECK(analysis::add_chip(own, technology(), report).empty());
    REQUIRE(report.chip);
    CHECK(report.chip->process_nm == 28.0);
    CHECK(report.chip->area_mm2 < whole->area_mm2);
    own.process_nm = 3.0;
    report.chip.reset();
    const auto outside = analysis::add_chip(own, technology(), report);
    CHECK(!report.chip);
    REQUIRE(outside.size() == 1);
    CHECK(outside.begin()->code == "no-node");
    CHECK(!outside.has_errors());
    CHECK(analysis::add_chip(machine("t4"), technology(), report).empty());
    CHECK(!report.chip);
}

} // namespace test_chip_chip
