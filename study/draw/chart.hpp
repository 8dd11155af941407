// A chart with two logarithmic axes: lines or stairs, points, and marks across it, as SVG.
// Used by the writers of the mapper's results.
// Knows no meaning of its numbers; computes nothing but where they stand.
#pragma once

#include "study/draw/axis.hpp"

#include <string>
#include <utility>
#include <vector>

namespace eyeroof::study {

struct ChartLine {
    std::string label; // in the key at the right
    std::vector<std::pair<double, double>> points;
    bool stairs = false; // keeps its height until the next point
    bool dots = false;
    bool line = true; // false: dots alone
};

struct ChartMark { // a dashed line across the chart, with its text at the end
    double at = 0.0;
    std::string label;
    bool upright = false; // at an x; else at a y
};

struct Chart {
    std::string title;
    std::string x_title;
    std::string y_title;
    std::vector<ChartLine> lines;
    std::vector<ChartMark> marks;
    TickText x_ticks = TickText::si;
    TickText y_ticks = TickText::si;
};

std::string chart_svg(const Chart& chart);

} // namespace eyeroof::study
