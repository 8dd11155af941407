// The visible points of a view, after its filter, kinds, hidden points, and "only the heaviest".
#pragma once

#include "report/draw/plot_input.hpp"
#include "report/draw/view_state.hpp"

#include <vector>

namespace eyeroof::report {

using PointIndices = std::vector<std::size_t>; // into PlotInput::points

// Heaviest first; equals in the order of the input. Errors: "bad-regex".
Result<PointIndices> points_in_view(const PlotInput& input, const ViewState& view);

} // namespace eyeroof::report
