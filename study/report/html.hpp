// The report as one HTML page without outside parts: a ladder a layer, light and dark.
// Called by cli and gui.
// Computes nothing.
#pragma once

#include "study/exam/report.hpp"

#include <string>

namespace eyeroof::study {

std::string to_html(const Report& report);

} // namespace eyeroof::study
