// A scaling study as a chart: samples a second against devices, every bound and the prediction.
// Drawn by the window, and written as SVG by `eyeroof scale`.
#pragma once

#include "study/draw/chart.hpp"
#include "study/scale/scale.hpp"

namespace eyeroof::study {

Chart scale_chart(const ScaleResult& result);

} // namespace eyeroof::study
