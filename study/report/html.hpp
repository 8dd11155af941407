// The report as one HTML page without outside parts: a ladder a layer, light and dark.
// Called by cli and gui.
// Computes nothing.
#pragma once

#include "study/exam/report.hpp"
#include "study/report/memory_fit.hpp"

#include <string>

namespace eyeroof::study {

// `memory`: of a GPU, where it is known.
std::string to_html(const Report& report);

} // namespace eyeroof::study
