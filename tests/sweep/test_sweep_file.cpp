#include "analysis/sweep/sweep_file.hpp"
#include "tests/sweep/sources.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

namespace test_sweep_sweep_file {

using namespace eyeroof;
using namespace eyeroof::analysis;
using namespace eyeroof::formats;
namespace fs = std::filesystem;

namespace {

struct Folder {
    fs::path path = fs::temp_directory_path() / ("eyeroof-sweep-" + std::to_string(getpid()));
    Folder() {
        fs::remove_all(path);
        fs::create_directories(path);
    }
    ~Folder() { fs::remove_all(path); }
};

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

SweepGrid grid_of(const std::vector<std::string>& vary = {"axis-kernel=8:40:8",
                                                          "clock=100 MHz:1 GHz:20 MHz"}) {
    return SweepGrid::make(tests::question("alexnet", "npu-int8", vary), tests::catalog_sources())
        .value();
}

// Writes `most` points of a range, or all; the result is what close() says.
bool write(const SweepGrid& grid, const fs::path& file, PointRange range, RowFormat format,
           bool resume, std::uint64_t most = ~0ULL) {
    auto out = SweepFile::open(file, note_of(grid, range, format), header_of(grid, format), resume);
    if (!out) {
        return false;
    }
    const PointRange rest{out->next(), out->next() + std::min(most, range.to - out->next())};
    out->append(tests::rows_of(grid, rest, 2, format), rest.to - rest.from);
    return static_cast<bool>(out->close());
}

} // namespace

TEST_CASE("a sweep that was killed anywhere goes on to the same file, byte for byte") {
    const Folder folder;
    const SweepGrid grid = grid_of();
    for (const RowFormat format : {RowFormat::csv, RowFormat::jsonl}) {
        const fs::path whole = folder.path / (format == RowFormat::csv ? "whole.csv" : "w.jsonl");
        REQUIRE(write(grid, whole, {0, grid.points()}, format, false));
        const std::string expected = text_of(whole);
        const fs::path part = folder.path / "part";
        // Kills in the header, after it, in a row, at a row's end, in the last row.
        for (const std::size_t bytes :
             {std::size_t{0}, std::size_t{3}, expected.find('\n') + 1, expected.size() / 2,
              expected.find('\n', expected.size() / 3) + 1, expected.size() - 1}) {
            fs::remove(part);
            REQUIRE(write(grid, part, {0, grid.points()}, format, false, 0));
            std::ofstream(part, std::ios::binary | std::ios::trunc) << expected.substr(0, bytes);
            CAPTURE(bytes);
            REQUIRE(write(grid, part, {0, grid.points()}, format, true));
            CHECK(text_of(part) == expected);
            CHECK(!fs::exists(note_path(part))); // it is whole
        }
    }
}

TEST_CASE("a finished sweep resumed is left as it is, another question's file is refused") {
    const Folder folder;
    const SweepGrid grid = grid_of();
    const fs::path file = folder.path / "a.csv";
    REQUIRE(write(grid, file, {0, grid.points()}, RowFormat::csv, false));
    const std::string before = text_of(file);
    CHECK(!write(grid, file, {0, grid.points()}, RowFormat::csv, false)); // it is there
    CHECK(write(grid, file, {0, grid.points()}, RowFormat::csv, true));
    CHECK(text_of(file) == before);

    const fs::path half = folder.path / "half.csv";
    REQUIRE(write(grid, half, {0, grid.points()}, RowFormat::csv, false, 10));
    const SweepGrid other = grid_of({"axis-kernel=8:40:8", "clock=100 MHz:1 GHz:40 MHz"});
    const auto refused = SweepFile::open(half, note_of(other, {0, other.points()}, RowFormat::csv),
                                         header_of(other, RowFormat::csv), true);
    REQUIRE(!refused);
    CHECK(refused.diagnostics().items().front().code == "other-sweep");
    std::ofstream(folder.path / "mine.csv") << "my own notes\n";
    CHECK(!write(grid, folder.path / "mine.csv", {0, grid.points()}, RowFormat::csv, true));
    CHECK(text_of(folder.path / "mine.csv") == "my own notes\n");
}

TEST_CASE("sweeps whose values differ only in where one ends are different questions") {
    CHECK(grid_of({"batch=1,23"}).fingerprint() != grid_of({"batch=12,3"}).fingerprint());
    CHECK(grid_of({"batch=1,23"}).fingerprint() == grid_of({"batch=1,23"}).fingerprint());
}

TEST_CASE(
    "numbers of a network, a parameter, and the batch are numbers in a JSON row, names are texts") {
    const auto grid = SweepGrid::make(
        tests::question("bert-base", "npu-int8",
                        {"network.seq=64,128", "axis-kernel=8,16", "batch=2", "dataflow=ws,os"}),
        tests::catalog_sources());
    REQUIRE(grid);
    const std::string row = row_of(*grid, RowFormat::jsonl, 0, PointFigures{});
    const auto cell = [&](std::size_t field) {
        const std::string key = "\"" + grid->fields()[field].column + "\":";
        const auto at = row.find(key) + key.size();
        return row.substr(at, row.find(',', at) - at);
    };
    CHECK(cell(0) == "64");
    CHECK(cell(1) == "8");
    CHECK(cell(2) == "2");
    CHECK(cell(3) == "\"ws\"");
}

TEST_CASE("a line of a sweep's file that is no JSON object is named by its number") {
    const auto broken = parse_rows("{\"point\":0}\n{\"point\":1}\n[2]\n", "a.jsonl");
    REQUIRE(!broken);
    CHECK(broken.diagnostics().items().front().message == "a.jsonl:3: this line is no JSON object");
}

TEST_CASE("parts merge to the file of the whole, in whatever order") {
    const Folder folder;
    const SweepGrid grid = grid_of();
    const fs::path whole = folder.path / "whole.csv";
    REQUIRE(write(grid, whole, {0, grid.points()}, RowFormat::csv, false));
    std::vector<fs::path> parts;
    for (std::uint64_t i = 1; i <= 3; ++i) {
        parts.insert(parts.begin(), folder.path / ("part" + std::to_string(i)));
        REQUIRE(write(grid, parts.front(), shard_of(grid.points(), i, 3), RowFormat::csv, false));
    }
    REQUIRE(merge_sweep(parts, folder.path / "merged.csv"));
    CHECK(text_of(folder.path / "merged.csv") == text_of(whole));

    const auto code = [&](const std::vector<fs::path>& some) {
        const auto merged = merge_sweep(some, folder.path / "no.csv");
        return merged ? std::string("none") : merged.diagnostics().items().front().code;
    };
    CHECK(code({parts[0], parts[2]}) == "missing-part");
    CHECK(code({parts[1], parts[2]}) == "missing-part"); // the last one
    CHECK(code({parts[0], parts[1], parts[1], parts[2]}) == "overlap");
    CHECK(code({parts[0], whole}) == "bad-sweep-file");
    fs::resize_file(parts[1], fs::file_size(parts[1]) - 4);
    CHECK(code(parts) == "unfinished");
    CHECK(!fs::exists(folder.path / "no.csv"));
}

} // namespace test_sweep_sweep_file
