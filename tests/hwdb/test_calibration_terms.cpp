// Terms of files written before or after this version.
#include "hwdb/calibration_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace test_hwdb_calibration_terms {

using namespace eyeroof; // NOLINT

namespace {

std::string carried_over() {
    std::ifstream file(std::string(tests::source_dir()) + "/hwdb/calibration/carried-over.yaml");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// carried-over.yaml with one more line among the terms of `linear`, its first class.
Result<hwdb::CalibrationFile> with_term(const std::string& line) {
    const std::string whole = carried_over();
    const std::size_t at = whole.find("    terms:\n") + std::string("    terms:\n").size();
    auto document = hwdb::parse_yaml(whole.substr(0, at) + line + whole.substr(at), "old.yaml");
    REQUIRE(document.ok());
    return hwdb::read_calibration(*document, "");
}

} // namespace

TEST_CASE("a term that another class's kernels have is read without effect, another is told") {
    const auto plain = with_term("");
    const auto old = with_term("      fp8_share: 0.3\n"); // of tensor cores
    REQUIRE(plain.ok());
    REQUIRE(old.ok());
    CHECK(old->calibration == plain->calibration);
    CHECK(old.diagnostics().empty());
    const auto gone =
        with_term("      transpose_share: 0.25\n"); // of files before layout passes had tiles
    REQUIRE(gone.ok());
    CHECK(gone->calibration == plain->calibration);
    CHECK(gone.diagnostics().empty());
    const auto misspelled = with_term("      fp8_shar: 0.3\n");
    CHECK_FALSE(misspelled.diagnostics().empty());
}

TEST_CASE("a file may lack a term whose standard value is none, and no other term") {
    const auto without = [](const std::string& term) {
        std::string text = carried_over();
        const std::size_t at = text.find("      " + term + ":");
        REQUIRE(at != std::string::npos);
        text.erase(at, text.find('\n', at) + 1 - at);
        auto document = hwdb::parse_yaml(text, "old.yaml");
        REQUIRE(document.ok());
        return hwdb::read_calibration(*document, "");
    };
    REQUIRE(model::MatmulTerms{}.ramp_cycles == 0.0);
    const auto old = without("ramp_cycles"); // of `linear`
    REQUIRE(old.ok());
    CHECK(old->calibration.linear.ramp_cycles == 0.0);
    const auto damaged = without("dram_share"); // else 0.9 would stand for a measured share
    CHECK_FALSE(damaged.ok());
    REQUIRE(damaged.diagnostics().size() == 1);
    CHECK(damaged.diagnostics().items()[0].field == "classes.linear.terms.dram_share");
}

} // namespace test_hwdb_calibration_terms
