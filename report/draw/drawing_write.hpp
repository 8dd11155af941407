// The figures behind drawings as CSV, JSON and tab-separated text. Places nothing and computes
// nothing.
#pragma once

#include "report/draw/drawing.hpp"

#include <string>

namespace eyeroof::report {

std::string to_csv(const DrawnTable& table);
std::string to_tsv(const DrawnTable& table); // for spreadsheets, by the clipboard
// {"schema": "eyeroof/figures/1", "title": …, "rows": [{column: value}]}
std::string to_json(const DrawnTable& table, const std::string& title);

} // namespace eyeroof::report
