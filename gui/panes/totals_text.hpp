// The lines above the table of layers: each machine's time, what was measured of it and by how much
// the prediction is off, and how machines compare.
// Used by the main window.
#pragma once

#include "analysis/exam/report.hpp"

#include <QString>
#include <vector>

namespace eyeroof::gui {

QString totals_html(const std::vector<analysis::Report>& reports); // empty without reports

} // namespace eyeroof::gui
