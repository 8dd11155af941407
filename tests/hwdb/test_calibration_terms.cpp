// Terms of files written before or after this version.
#include "hwdb/calibration_reader.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

namespace test_hwdb_calibration_terms {

using namespace eyeroof; // NOLINT

namespace {

// carried-over.yaml with one more line among the terms of `linear`, its first class.
Result<hwdb::CalibrationFile> with_term(const std::string& line) {
    std::ifstream file(std::string(tests::source_dir()) + "/hwdb/calibration/carried-over.yaml");
    std::stringstream text;
    text << file.rdbuf();
    const std::string whole = text.str();
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
    const auto misspelled = with_term("      fp8_shar: 0.3\n");
    CHECK_FALSE(misspelled.diagnostics().empty());
}

} // namespace test_hwdb_calibration_terms
