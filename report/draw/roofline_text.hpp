// A roofline plot for a terminal: roofs and points in character cells, and a row for each of the
// heaviest points.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <string>

namespace eyeroof::report {

// Both axes are logarithmic, as in the scene. Points that share a cell show the heaviest. The
// plot is as wide as `columns`; the rows take 80.
std::string roofline_text(const RooflineScene& scene, std::size_t columns);

} // namespace eyeroof::report
