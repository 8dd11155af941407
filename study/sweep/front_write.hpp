// The Pareto front of a sweep, as text, CSV, and SVG.
#pragma once

#include "study/sweep/front.hpp"

#include <string>

namespace eyeroof::study {

std::string front_text(const SweptTable& table, const std::vector<Aim>& aims,
                       const std::vector<std::size_t>& front);
std::string front_csv(const SweptTable& table, const std::vector<std::size_t>& front);
// All points and the front, of the first two aims, both axes logarithmic.
std::string front_plot_svg(const SweptTable& table, const std::vector<Aim>& aims,
                           const std::vector<std::size_t>& front, const std::string& title);

} // namespace eyeroof::study
