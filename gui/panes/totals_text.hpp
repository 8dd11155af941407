// The lines above the table of layers: each machine's time, what was measured of it and by how much
// the prediction is off, and how machines compare.
#pragma once

#include "analysis/exam/report.hpp"

#include <QString>
#include <map>
#include <string>
#include <vector>

namespace eyeroof::gui {

// "Bound by … Largest saving: …" as every view says it; `linked`: its option leads to
// "parameter:KEY". Empty while it is not known.
QString bound_html(const analysis::Report& report, bool linked);
// The key of the parameter that the headline doubles; "host-speed" is the host's; empty: the end of
// a power cap.
std::string parameter_of(const analysis::Headline& headline);

// Empty without reports. `runs`: by machine, which of several measured runs its report has.
QString totals_html(const std::vector<analysis::Report>& reports,
                    const std::map<std::string, std::string>& runs);

} // namespace eyeroof::gui
