// A chart in any size and in the theme's colors, its key below the title: shown by the
// window, written by chart_svg.
#pragma once

#include "report/draw/chart.hpp"
#include "report/draw/drawing.hpp"

namespace eyeroof::report {

Drawing draw_chart(const Chart& chart, const Canvas& canvas);

} // namespace eyeroof::report
