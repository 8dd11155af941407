// A chart with two logarithmic axes: lines or stairs, points, and marks across it.
// Filled by the writers of results; placed by chart_scene.hpp for the window and for SVG alike.
#pragma once

#include "report/draw/axis.hpp"

#include <string>
#include <utility>
#include <vector>

namespace eyeroof::report {

struct ChartLine {
    std::string label; // in the key
    std::vector<std::pair<double, double>> points;
    bool stairs = false; // keeps its height until the next point
    bool dots = false;
    bool line = true; // false: dots alone
};

struct ChartMark { // a dashed line across the chart, with its text in the key
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

// As SVG, in a size for a page.
std::string chart_svg(const Chart& chart);

} // namespace eyeroof::report
