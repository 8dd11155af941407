// One layer of the terminal's report: its figures and the seven steps, one row each.
#pragma once

#include "analysis/exam/report.hpp"
#include "report/exam/text.hpp"

#include <string>

namespace eyeroof::report {

// A block that begins with an empty line: heading, where the time goes, the ladder of steps, what
// bounds the layer, and measured rows. With style.details also the mapping and its traffic.
std::string ladder_text(const analysis::Report& report, const analysis::LayerReport& layer,
                        const TextStyle& style);

} // namespace eyeroof::report
