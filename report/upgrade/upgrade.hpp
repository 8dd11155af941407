// The verdict whether another GPU pays off, as text, a picture, and a page.
// Only writes: the result contains the verdict.
#pragma once

#include "analysis/upgrade/purchase.hpp"
#include "analysis/upgrade/upgrade.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// Of a measured old side: each category given the trace and by prediction alone; else empty.
std::string upgrade_categories_text(const analysis::Upgrade& upgrade);
std::string upgrade_text(const analysis::Upgrade& upgrade);
std::string
upgrade_svg(const analysis::Upgrade& upgrade); // bars of the longest layers, or of the members
std::string
upgrade_page_body(const analysis::Upgrade& upgrade); // chart and tables, without the page

std::string upgrade_sweep_text(const analysis::Upgrade& upgrade); // "" without a sweep

// The whole answer over several candidates: the sentence, what runs, the candidates, what would
// turn it over, the evidence, and with `details` the above of the best one.
std::string purchase_text(const analysis::Purchase& purchase, bool details);
// One sheet that prints on one page of A4 or Letter, and with `details` the layers on others.
std::string purchase_html(const analysis::Purchase& purchase, bool details);

} // namespace eyeroof::report
