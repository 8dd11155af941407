// What a report warns of, for the window: its list of problems, and marks at layers.
#pragma once

#include "analysis/exam/report.hpp"
#include "base/diagnostic.hpp"

#include <QString>
#include <map>
#include <string>
#include <utility>

namespace eyeroof::gui {

// By machine and row of its report: why a layer is marked.
using LayerMarks = std::map<std::pair<std::string, std::size_t>, QString>;

void add_warnings(const analysis::Report& report, Diagnostics& problems, LayerMarks& marks);

} // namespace eyeroof::gui
