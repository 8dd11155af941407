#include "report/page/table_page.hpp"

#include "base/csv.hpp"
#include "base/figures.hpp"
#include "base/markup.hpp"
#include "base/units.hpp"
#include "report/page/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostTableRows = 60;

using Cells = std::vector<std::string>;

struct Table {
    Cells headings;
    std::vector<Cells> rows;
};

Table table_of(const std::string& csv) {
    Table table;
    CsvReader reader(csv, "");
    CsvRecord record;
    Diagnostics ignored;
    while (reader.next(record, ignored)) {
        Cells cells;
        for (const CsvCell& cell : record.cells) {
            cells.emplace_back(cell.text);
        }
        (table.headings.empty() ? table.headings : table.rows.emplace_back()) = std::move(cells);
    }
    return table;
}

std::optional<double> number_of(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return whole ? std::optional(value) : std::nullopt;
}

struct Unit {
    std::string_view ending; // of a heading
    std::string_view unit;
    double factor;
};
constexpr auto kUnits = std::to_array<Unit>({{"_bytes_per_s", "B/s", 1.0},
                                             {"_macs_per_s", "MAC/s", 1.0},
                                             {"_flops_per_s", "FLOP/s", 1.0},
                                             {"_bytes", "B", 1.0},
                                             {"bytes", "B", 1.0},
                                             {"_pj", "J", 1e-12},
                                             {"_j", "J", 1.0},
                                             {"_w", "W", 1.0},
                                             {"_hz", "Hz", 1.0},
                                             {"_s", "s", 1.0}});

// Rates of things that have no unit ("tokens_per_s") stay numbers.
const Unit* unit_of(std::string_view heading) {
    const auto found = std::ranges::find_if(
        kUnits, [&](const Unit& unit) { return heading.ends_with(unit.ending); });
    const bool rate = heading.ends_with("_per_s") && found != kUnits.end() && found->unit == "s";
    return found == kUnits.end() || rate ? nullptr : &*found;
}

std::string cell_text(const std::string& heading, const std::string& cell) {
    const auto number = number_of(cell);
    if (!number) {
        return html_escaped(cell);
    }
    if (const Unit* unit = unit_of(heading)) {
        return format_si(*number * unit->factor, std::string(unit->unit));
    }
    constexpr double kPrefixed = 1e5;
    return std::abs(*number) < kPrefixed ? fmt::format("{:.6g}", *number)
                                         : html_escaped(amount(*number));
}

// "tokens_per_s" as "tokens per s", "ttft_s" as "ttft": the cells have the unit.
std::string heading_text(std::string heading) {
    if (const Unit* unit = unit_of(heading);
        unit != nullptr && heading != unit->ending && unit->ending.starts_with('_')) {
        heading.resize(heading.size() - unit->ending.size());
    }
    std::ranges::replace(heading, '_', ' ');
    return html_escaped(heading);
}

std::string table_html(const Table& table) {
    PageTable page;
    for (std::size_t c = 0; c < table.headings.size(); ++c) {
        const bool numbers = c > 0 && std::ranges::all_of(table.rows, [c](const Cells& row) {
                                 return c >= row.size() || row[c].empty() || number_of(row[c]);
                             });
        page.columns.push_back({heading_text(table.headings[c]), numbers});
    }
    for (std::size_t r = 0; r < std::min(table.rows.size(), kMostTableRows); ++r) {
        Cells& cells = page.rows.emplace_back();
        for (std::size_t c = 0; c < table.headings.size(); ++c) {
            const bool there = c < table.rows[r].size();
            cells.push_back(there ? cell_text(table.headings[c], table.rows[r][c]) : "");
        }
    }
    return page_table(page) +
           (table.rows.size() > kMostTableRows
                ? fmt::format("<p class=\"rest\">and {} more rows: --format csv writes all</p>\n",
                              table.rows.size() - kMostTableRows)
                : "");
}

// Of a column, each with its row's first cell.
std::string bars_svg(const Table& table, const std::string& heading) {
    const auto found = std::ranges::find(table.headings, heading);
    const auto column = static_cast<std::size_t>(found - table.headings.begin());
    std::vector<PageBar> bars;
    for (std::size_t r = 0; found != table.headings.end() && r < table.rows.size(); ++r) {
        const auto value =
            column < table.rows[r].size() ? number_of(table.rows[r][column]) : std::nullopt;
        bars.push_back({table.rows[r].front(), value.value_or(0.0),
                        value ? cell_text(heading, table.rows[r][column]) : ""});
    }
    return page_bars(heading_text(heading), std::move(bars));
}

} // namespace

std::string to_page(const TablePage& page) {
    const Table table = table_of(page.csv);
    const std::string picture = page.svg.empty() ? bars_svg(table, page.bars) : page.svg;
    return page_head(html_escaped(page.title)) + "<h1>" + html_escaped(page.title) + "</h1>\n" +
           page_answer(page.text.empty() ? fmt::format("{} rows", table.rows.size())
                                         : page.text.substr(0, page.text.find("\n\n"))) +
           (picture.empty() ? "" : "<figure>" + picture + "</figure>\n") + table_html(table) +
           page_foot();
}

} // namespace eyeroof::report
