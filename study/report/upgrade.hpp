// The answer whether another GPU pays as text, JSON, CSV, Markdown, a picture and a page.
// Called by cli.
// Judges nothing: the verdict stands in the answer.
#pragma once

#include "study/upgrade/upgrade.hpp"

#include <string>
#include <vector>

namespace eyeroof::study {

std::string upgrade_text(const Upgrade& upgrade);
std::string upgrade_json(const Upgrade& upgrade); // eyeroof/upgrade/1
std::string upgrade_csv(const Upgrade& upgrade);
std::string upgrade_markdown(const Upgrade& upgrade);
std::string upgrade_svg(const Upgrade& upgrade);  // bars of the longest layers, or of the members
std::string upgrade_html(const Upgrade& upgrade); // one file: verdict, chart, tables

} // namespace eyeroof::study
