// The files of serving libraries' constants: read as written, and refused with the place.
#include "hwdb/kernels_reader.hpp"

#include <doctest/doctest.h>

namespace test_hwdb_kernels_reader {

using namespace eyeroof; // NOLINT

namespace {

Result<model::LibraryCells> read(const std::string& text) {
    auto document = hwdb::parse_yaml(text, "sm_90.yaml");
    return document ? hwdb::read_kernels(*document)
                    : Result<model::LibraryCells>(document.diagnostics());
}

model::LibraryCells small_cells() {
    model::LibraryCells cells;
    cells.source = "a table";
    model::LibraryCell cell;
    cell.added = {2.5};
    cell.joined = {0.5, 1.0, 0.25, 2.0};
    cell.power = 1.5;
    cell.shape.assign(20, 0.25);
    cell.machines["h100-sxm-80gb"] = {0.05, 0.9, 1.1};
    cell.low = 0.8;
    cell.high = 1.25;
    cell.rows = 100;
    cell.mape = 0.12;
    cell.median = 0.08;
    cell.versions = "0.24.0, 0.25.0";
    cells.cells["quantize||bf16_to_fp8|vllm|"] = cell;
    cells.distances[static_cast<std::size_t>(model::LibraryKind::cast)] = {0.15, 0.05, 0.4, 0};
    return cells;
}

} // namespace

TEST_CASE("constants of libraries' kernels are read as they were written") {
    const model::LibraryCells cells = small_cells();
    const auto again = read(hwdb::write_kernels(cells, "sm_90"));
    REQUIRE(again);
    CHECK(*again == cells);
}

TEST_CASE("constants with a wrong count, a word, or an unknown operator are refused") {
    const std::string good = hwdb::write_kernels(small_cells(), "sm_90");
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return read(text);
    };
    const auto code = [&](const std::string& from, const std::string& to) {
        const auto result = with(from, to);
        return result ? "" : result.diagnostics().items().front().code;
    };
    CHECK(code("0.5 1 0.25 2", "0.5 1 0.25") == "wrong-count");
    CHECK(code("0.5 1 0.25 2", "0.5 1 fast 2") == "bad-numbers");
    CHECK(code("quantize||", "quantise||") == "unknown-kernel");
    CHECK_FALSE(with("power: 1.5", "power: 99"));
    CHECK(code("0.15 0.05 0.4 0", "0.15 0.05 0.4") == "wrong-count");
    CHECK_FALSE(with("  recurrent:", "  unknown:"));
}

} // namespace test_hwdb_kernels_reader
