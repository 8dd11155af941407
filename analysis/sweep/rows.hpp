// Rows of a sweep as text and back: CSV and JSON lines. Columns: point, the varied fields, the
// figures, error.
#pragma once

#include "analysis/sweep/figures.hpp"
#include "analysis/sweep/grid.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

enum class RowFormat { csv, jsonl };

// Empty for JSON lines.
std::string header_of(const SweepGrid& grid, RowFormat format);
std::string row_of(const SweepGrid& grid, RowFormat format, std::uint64_t point,
                   const PointFigures& figures);

// A row of any sweep's file, cells as texts.
struct SweptTable {
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;

    std::optional<std::size_t> column(std::string_view name) const;
};
// Both formats, distinguished by the first character. Errors: "bad-sweep-file" with the line.
Result<SweptTable> parse_rows(std::string_view text, const std::string& file);

// A cell's finite number; nullopt where it holds anything else.
std::optional<double> number_in(const std::string& cell);

} // namespace eyeroof::analysis
