// A chart in any size and in the theme's colours, its key below the title: what chart_svg writes,
// for the window. Knows no meaning of its numbers.
#pragma once

#include "study/draw/chart.hpp"
#include "study/draw/drawing.hpp"

namespace eyeroof::study {

Drawing draw_chart(const Chart& chart, const Canvas& canvas);

} // namespace eyeroof::study
