// What the writers of YAML promise: text that the strict reader turns into the same text again.
#include "hwdb/calibration_reader.hpp"
#include "hwdb/transfer_reader.hpp"
#include "hwdb/yaml.hpp"
#include "hwdb/yaml_write.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace test_hwdb_yaml_write {

using namespace eyeroof; // NOLINT

namespace {

const std::string kAwkward =
    "A \"quoted\" \\ path: C:\\rows, {a: b} # no comment\n\ttwo lines \u202e";

std::string read_back(const std::string& scalar) {
    auto document = hwdb::parse_yaml("text: " + scalar + "\n", "scalar.yaml");
    REQUIRE(document.ok());
    return document->root()["text"].text().value_or("");
}

hwdb::CalibrationFile of_t4() {
    const std::vector<std::filesystem::path> folders = {std::filesystem::path(tests::source_dir()) /
                                                        "hwdb"};
    const auto file = hwdb::load_calibration("t4", folders);
    REQUIRE(file.ok());
    return *file;
}

} // namespace

TEST_CASE("any text comes back from YAML as it was") {
    for (const std::string& text :
         {kAwkward, std::string("plain text"), std::string("true"), std::string("- item"),
          std::string("ends with a blank "), std::string("é, 32 \xC2\xB5s"),
          std::string("'single'"), std::string("\x1b[31m")}) {
        CAPTURE(text);
        CHECK(read_back(hwdb::yaml_quoted(text)) == text);
        CHECK(read_back(hwdb::yaml_scalar(text)) == text);
    }
    CHECK(hwdb::yaml_scalar("tesla-t4") == "tesla-t4");
    CHECK(hwdb::yaml_scalar("true") == "\"true\"");
    CHECK(hwdb::yaml_quoted("a \"b\"") == "\"a \\\"b\\\"\"");
}

TEST_CASE("a file of constants that changed is read again") {
    const auto folder = std::filesystem::temp_directory_path() / "eyeroof-test-constants";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder / "calibration");
    hwdb::CalibrationFile file = of_t4();
    file.id = "mine";
    const auto loaded = [&] {
        std::ofstream(folder / "calibration/mine.yaml") << hwdb::write_calibration(file);
        const std::vector<std::filesystem::path> folders = {folder};
        const auto read = hwdb::load_calibration("mine", folders);
        REQUIRE(read.ok());
        return read->calibration.linear.dram_share;
    };
    for (const double share : {0.5, 0.5, 0.75}) {
        file.calibration.linear.dram_share = share;
        CHECK(loaded() == share);
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("constants keep awkward sources, their dates, and clocks that somebody gave") {
    hwdb::CalibrationFile file = of_t4();
    file.id = "my gpu: 2";
    file.dates[0] = "2025-02-03";
    file.measures_clock = {};
    for (auto& record : file.calibration.records) {
        record.provenance = {kAwkward, Confidence::fitted};
        record.measured = false;
        record.band.basis = kAwkward;
    }
    file.calibration.records[0].measured = true;
    file.measures_clock[0] = true; // as measured
    file.measures_clock[2] = true; // given
    auto document = hwdb::parse_yaml(hwdb::write_calibration(file), "mine.yaml");
    REQUIRE(document.ok());
    const auto again = hwdb::read_calibration(*document, "other");
    REQUIRE(again.ok());
    CHECK(again->id == "my gpu: 2");
    CHECK(again->dates == file.dates);
    CHECK(again->measures_clock == file.measures_clock);
    CHECK(again->calibration.records[0].measured);
    CHECK_FALSE(again->calibration.records[1].measured);
    CHECK(again->calibration.records[1].provenance.source == kAwkward);
    CHECK(again->calibration.records[1].band.basis == kAwkward);
}

TEST_CASE("a date that is none is refused") {
    hwdb::CalibrationFile file = of_t4();
    file.dates = {"2025-02-03"};
    std::string text = hwdb::write_calibration(file);
    text.replace(text.find("2025-02-03"), 10, "yesterday!");
    auto document = hwdb::parse_yaml(text, "mine.yaml");
    REQUIRE(document.ok());
    const auto read = hwdb::read_calibration(*document, "gpu");
    REQUIRE_FALSE(read.ok());
    CHECK(read.diagnostics().items().front().code == "bad-date");
}

TEST_CASE("the transfer of speed-ups keeps an awkward source") {
    model::Transfer transfer;
    transfer.source = kAwkward;
    auto document = hwdb::parse_yaml(hwdb::write_transfer(transfer), "transfer.yaml");
    REQUIRE(document.ok());
    CHECK(document->root()["source"].text() == kAwkward);
}

} // namespace test_hwdb_yaml_write
