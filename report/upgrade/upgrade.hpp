// The answer whether another GPU pays as text, JSON, CSV, Markdown, a picture and a page.
// Called by cli.
// Judges nothing: the verdict stands in the answer.
#pragma once

#include "analysis/upgrade/upgrade.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

std::string upgrade_text(const analysis::Upgrade& upgrade);
std::string upgrade_json(const analysis::Upgrade& upgrade); // eyeroof/upgrade/1
std::string upgrade_csv(const analysis::Upgrade& upgrade);
std::string upgrade_markdown(const analysis::Upgrade& upgrade);
std::string
upgrade_svg(const analysis::Upgrade& upgrade); // bars of the longest layers, or of the members
std::string upgrade_html(const analysis::Upgrade& upgrade); // one file: verdict, chart, tables

} // namespace eyeroof::report
