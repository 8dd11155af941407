// A sweep's points and their Pareto front, as text and SVG.
#pragma once

#include "analysis/sweep/front.hpp"

#include <string>

namespace eyeroof::report {

// The scenario of the first point in words, the point of the shortest time and that of the least
// energy, then a row each, the first kSweptRows of them.
std::string sweep_text(const analysis::SweptTable& table, const std::string& words);

std::string front_text(const analysis::SweptTable& table, const std::vector<analysis::Aim>& aims,
                       const std::vector<std::size_t>& front);
// All points and the front, of the first two aims, both axes logarithmic.
std::string front_plot_svg(const analysis::SweptTable& table,
                           const std::vector<analysis::Aim>& aims,
                           const std::vector<std::size_t>& front, const std::string& title);

} // namespace eyeroof::report
