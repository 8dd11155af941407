// Two parameters against each other as a picture: a cell for each pair of values.
#pragma once

#include "analysis/what_if/parameter_map.hpp"
#include "report/draw/drawing.hpp"

namespace eyeroof::report {

// Cells by their speedup over now, the present one framed, with the number where it fits; values
// beside both sides; a color scale, and lines of the speedups that the scale names.
Drawing draw_parameter_map(const analysis::ParameterMap& map, const Canvas& canvas);

} // namespace eyeroof::report
