#include "analysis/calibrate/named_cells.hpp"

#include "base/separators.hpp"
#include "formats/layer_csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace eyeroof::analysis {

std::string text_of(const NamedCells& cells, const char* column) {
    const auto found = cells.find(column);
    return found == cells.end() ? "" : std::string(found->second.text);
}

SourceLocation place_of(const NamedCells& cells, const char* column, const std::string& file) {
    const CsvCell& cell = cells.at(column);
    return {file, cell.line, cell.column};
}

std::optional<double> positive_number(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value > 0.0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void each_row(const std::string& text, const std::string& file,
              const std::vector<std::string>& needed, const std::string& hint, Diagnostics& found,
              const std::function<void(const NamedCells&, int line)>& row) {
    const std::string commas = comma_separated(text);
    CsvReader reader(commas, file);
    CsvRecord record;
    std::vector<std::string> header;
    std::size_t rows = 0;
    while (reader.next(record, found) && !found.full()) {
        if (header.empty()) {
            for (const CsvCell& cell : record.cells) {
                header.emplace_back(cell.text);
            }
            for (const std::string& name : needed) {
                if (std::find(header.begin(), header.end(), name) == header.end()) {
                    found.error("missing-column", fmt::format("there is no column '{}'", name),
                                hint, {file, record.line, 1});
                }
            }
            if (found.has_errors()) {
                return;
            }
            continue;
        }
        NamedCells cells;
        for (std::size_t i = 0; i < header.size() && i < record.cells.size(); ++i) {
            cells[header[i]] = record.cells[i];
        }
        for (const std::string& name : header) { // a short row: empty cells at its begin
            cells.try_emplace(name, CsvCell{{}, record.line, 1});
        }
        row(cells, record.line);
        ++rows;
    }
    if (!found.has_errors() && rows == 0) {
        found.error("no-rows", "there is no row", hint, {file, 1, 1});
    }
}

} // namespace eyeroof::analysis
