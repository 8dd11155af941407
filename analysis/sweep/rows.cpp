#include "analysis/sweep/rows.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

namespace eyeroof::analysis {

namespace {

bool is_number(const VariedField& field) {
    const bool option = field.what == VariedField::What::option && field.key == "batch";
    return option || field.what == VariedField::What::parameter ||
           field.what == VariedField::What::size;
}

// Of the machine that the point has.
std::string field_text(const SweepGrid& grid, const std::vector<std::size_t>& at, std::size_t f) {
    const VariedField& field = grid.fields()[f];
    if (field.what == VariedField::What::parameter) {
        return fmt::format("{}", field.numbers[grid.machine_base(at)][at[f]]);
    }
    return field.texts[at[f]];
}

const std::string& why_not(const PointFigures& figures) {
    return figures.error.empty() ? figures.unfit : figures.error;
}

std::string csv_row(const SweepGrid& grid, std::uint64_t point, const PointFigures& figures) {
    const auto at = grid.at(point);
    std::string row = fmt::format("{}", point);
    for (std::size_t f = 0; f < at.size(); ++f) {
        row += ',';
        row += csv_quoted(field_text(grid, at, f));
    }
    for (const double value : figures.values) {
        row += ',';
        if (figures.error.empty()) {
            fmt::format_to(std::back_inserter(row), "{}", value);
        }
    }
    row += ',';
    row += why_not(figures).empty() ? std::string{} : csv_quoted(why_not(figures));
    row += '\n';
    return row;
}

std::string json_row(const SweepGrid& grid, std::uint64_t point, const PointFigures& figures) {
    const auto at = grid.at(point);
    std::string row = fmt::format("{{\"point\":{}", point);
    for (std::size_t f = 0; f < at.size(); ++f) {
        const VariedField& field = grid.fields()[f];
        const std::string text = field_text(grid, at, f);
        row += fmt::format(",{}:{}", json_quoted(field.column),
                           is_number(field) ? text : json_quoted(text));
    }
    for (std::size_t i = 0; i < kSweptFigures && figures.error.empty(); ++i) {
        row += fmt::format(",\"{}\":{}", kSweptFigureNames[i], figures.values[i]);
    }
    row +=
        why_not(figures).empty() ? "" : fmt::format(",\"error\":{}", json_quoted(why_not(figures)));
    row += "}\n";
    return row;
}

Result<SweptTable> broken(const std::string& file, int line, const std::string& why) {
    Diagnostics found;
    found.error("bad-sweep-file", fmt::format("{}:{}: {}", file, line, why),
                "it is what `eyeroof sweep` writes, CSV or JSON lines");
    return Result<SweptTable>(std::move(found));
}

Result<SweptTable> parse_csv(std::string_view text, const std::string& file) {
    SweptTable table;
    CsvReader reader(text, file);
    CsvRecord record;
    Diagnostics found;
    while (reader.next(record, found)) {
        std::vector<std::string> cells;
        for (const CsvCell& cell : record.cells) {
            cells.emplace_back(cell.text);
        }
        if (table.columns.empty()) {
            table.columns = std::move(cells);
        } else if (cells.size() != table.columns.size()) {
            return broken(file, record.line, "the row has not as many cells as the header");
        } else {
            table.rows.push_back(std::move(cells));
        }
    }
    if (found.has_errors()) {
        return Result<SweptTable>(std::move(found));
    }
    return Result<SweptTable>(std::move(table));
}

std::string cell_of(const nlohmann::ordered_json& value) {
    return value.is_string() ? value.get<std::string>() : json_line(value);
}

Result<SweptTable> parse_json_lines(std::string_view text, const std::string& file) {
    SweptTable table;
    int line = 0;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        const auto object = parse_json(text.substr(from, to - from));
        ++line;
        from = to + 1;
        if (!object.is_object()) {
            return broken(file, line, "this line is no JSON object");
        }
        std::vector<std::string> cells(table.columns.size());
        for (const auto& [key, value] : object.items()) {
            auto at = static_cast<std::size_t>(
                std::find(table.columns.begin(), table.columns.end(), key) - table.columns.begin());
            if (at == table.columns.size()) {
                table.columns.push_back(key);
                cells.emplace_back();
            }
            cells[at] = cell_of(value);
        }
        table.rows.push_back(std::move(cells));
    }
    for (auto& row : table.rows) {
        row.resize(table.columns.size());
    }
    return Result<SweptTable>(std::move(table));
}

} // namespace

std::string header_of(const SweepGrid& grid, RowFormat format) {
    if (format == RowFormat::jsonl) {
        return {};
    }
    std::string header = "point";
    for (const VariedField& field : grid.fields()) {
        header += "," + csv_quoted(field.column);
    }
    for (const std::string_view name : kSweptFigureNames) {
        header += fmt::format(",{}", name);
    }
    return header + ",error\n";
}

std::string row_of(const SweepGrid& grid, RowFormat format, std::uint64_t point,
                   const PointFigures& figures) {
    return format == RowFormat::csv ? csv_row(grid, point, figures)
                                    : json_row(grid, point, figures);
}

std::optional<double> number_in(const std::string& cell) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    const bool whole = error == std::errc{} && end == cell.data() + cell.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::size_t> SweptTable::column(std::string_view name) const {
    const auto at = std::find(columns.begin(), columns.end(), name);
    return at == columns.end() ? std::nullopt
                               : std::optional(static_cast<std::size_t>(at - columns.begin()));
}

Result<SweptTable> parse_rows(std::string_view text, const std::string& file) {
    auto table = text.starts_with('{') ? parse_json_lines(text, file) : parse_csv(text, file);
    if (table && !table->column("point")) {
        return broken(file, 1, "there is no column 'point'");
    }
    return table;
}

} // namespace eyeroof::analysis
