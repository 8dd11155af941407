// A scaling study as a chart: samples per second against devices, every bound and the prediction.
// Drawn by the window, and written as SVG by `eyeroof scale`.
#pragma once

#include "analysis/scale/scale.hpp"
#include "report/draw/chart.hpp"

namespace eyeroof::report {

Chart scale_chart(const analysis::ScaleResult& result);

} // namespace eyeroof::report
