// The CSV of programs: records in pieces, their lines, and what a broken quote may cost.
#include "profiles/import/csv_table.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace test_profiles_csv_table {

using namespace eyeroof;
using namespace eyeroof::profiles;

namespace {

using Fields = std::vector<std::string>;

struct Read {
    std::vector<Fields> rows;
    std::vector<int> lines;
    std::string error; // its code
};

Read read(const std::string& text) {
    const auto source = ByteSource::of_text(text, "t.csv");
    CsvRows reader(*source);
    Read all;
    for (CsvRow row; reader.next(row);) {
        all.rows.push_back(row.fields);
        all.lines.push_back(row.where.line);
    }
    all.error = reader.errors().empty() ? "" : reader.errors().items()[0].code;
    return all;
}

// The records of a text that comes in pieces of so many bytes.
std::vector<Fields> in_pieces(const std::string& text, std::size_t size) {
    std::string window;
    std::size_t given = 0;
    CsvReader reader(
        [&](std::size_t unread) {
            window.erase(0, window.size() - unread);
            window += text.substr(given, size);
            given = std::min(given + size, text.size());
            return std::string_view(window);
        },
        "t.csv");
    std::vector<Fields> rows;
    CsvRecord record;
    for (Diagnostics found; reader.next(record, found);) {
        Fields& fields = rows.emplace_back();
        for (const CsvCell& cell : record.cells) {
            fields.emplace_back(cell.text);
        }
    }
    return rows;
}

} // namespace

TEST_CASE("cells of programs are taken as they stand: blanks, quotes inside, text after a quote") {
    const Read found = read("a, b ,\"c,\r\n\"\"d\"\" \"e\r\nx\"y,\"\",\n\n'=1");
    CHECK(found.rows ==
          std::vector<Fields>{{"a", " b ", "c,\r\n\"d\" e"}, {"x\"y", "", ""}, {""}, {"'=1"}});
    CHECK(found.lines == std::vector<int>{1, 3, 4, 5});
    CHECK(found.error == "");
}

TEST_CASE("1000 random texts have the same records whatever pieces they come in") {
    std::mt19937 random(5);
    constexpr std::string_view letters = "ab,,\"\"\n\n\r ";
    for (int i = 0; i < 1000; ++i) {
        std::string text;
        for (std::size_t n = random() % 60; n > 0; --n) {
            text += letters[random() % letters.size()];
        }
        const auto whole = in_pieces(text, 1000);
        for (const std::size_t size : {1U, 2U, 3U, 7U}) {
            CAPTURE(text);
            CAPTURE(size);
            CHECK(in_pieces(text, size) == whole);
        }
    }
}

TEST_CASE("a quote that is never closed is refused where it begins, after 1 MiB at the latest") {
    CHECK(read("a\n\"b\n").error == "cut-off");
    const Read found = read("a,b\n1,\"" + std::string(std::size_t{6} << 20, 'z') + "\n1,2\n");
    CHECK(found.rows == std::vector<Fields>{{"a", "b"}});
    CHECK(found.error == "bad-csv");
    CHECK(read("a\n" + std::string((std::size_t{1} << 20) + 1, 'z')).error == "bad-csv");
    CHECK(read(std::string(20'000, ',')).error == "bad-csv");
    CHECK(read(std::string(19'999, ',')).rows.at(0).size() == 20'000);
}

} // namespace test_profiles_csv_table
