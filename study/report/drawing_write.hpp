// Drawings as SVG, and the figures behind them as CSV, JSON and tab-separated text.
// Called by the window's export.
// Places nothing and computes nothing.
#pragma once

#include "study/draw/drawing.hpp"
#include "study/draw/svg.hpp"

#include <string>

namespace eyeroof::study {

std::string to_svg(const Drawing& drawing, SvgTheme theme = SvgTheme::light);

std::string to_csv(const DrawnTable& table);
std::string to_tsv(const DrawnTable& table); // for spreadsheets, by the clipboard
// {"schema": "eyeroof/figures/1", "title": …, "rows": [{column: value}]}
std::string to_json(const DrawnTable& table, const std::string& title);

} // namespace eyeroof::study
