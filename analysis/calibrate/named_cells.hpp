// A CSV table row by row, cells by the name of their column.
#pragma once

#include "base/csv.hpp"
#include "base/diagnostic.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

using NamedCells = std::map<std::string, CsvCell>;

std::string text_of(const NamedCells& cells, const char* column); // empty where there is none
SourceLocation place_of(const NamedCells& cells, const char* column, const std::string& file);
std::optional<double> positive_number(const std::string& text);

// Calls `row` with the cells and the line of each row. Adds "missing-column" for each of `needed`,
// "no-rows", and what is wrong with quotes; `hint` says what a row is.
void each_row(const std::string& text, const std::string& file,
              const std::vector<std::string>& needed, const std::string& hint, Diagnostics& found,
              const std::function<void(const NamedCells&, int line)>& row);

} // namespace eyeroof::analysis
