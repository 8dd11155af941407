// A plot with linear axes: positions of values, round ticks, the grid, and its numbers.
#pragma once

#include "report/draw/drawing.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct LinearPlot {
    Box box;
    double x_min = 0.0, x_max = 1.0, y_min = 0.0, y_max = 1.0;

    double x(double value) const {
        return box.left + box.width * (value - x_min) / (x_max - x_min);
    }
    // Values beyond the plot lie at its edge.
    double y(double value) const;
};

// 1, 2 or 5 times a power of ten, so that about `most` steps make up the range.
double round_step(double range, double most);
// The multiples of a round step between two values.
std::vector<double> round_ticks(double min, double max, double most);

// The plot's rectangle, a grid line and a number at each tick, and the titles. `x_texts`: what
// stands at the ticks instead of the numbers, where it has as many.
void add_axes(Drawing& drawing, const LinearPlot& plot, const std::vector<double>& x_ticks,
              const std::vector<std::string>& x_texts, const std::vector<double>& y_ticks,
              const std::string& x_title, const std::string& y_title);

// Title and subtitle, in their places.
void add_heading(Drawing& drawing, const std::string& title, const std::string& subtitle);

} // namespace eyeroof::report
