// The part of a scene that does not depend on pixels: which points and roofs, where in values.
#pragma once

#include "report/draw/roofline_scene.hpp"

namespace eyeroof::report {

// Errors: "bad-regex".
Result<RooflineScene> build_scene(const PlotInput& input, const ViewState& view);

// Which roofs a view shows when it does not say: the compute roofs of the points' precisions and
// the memory roofs of the level in view, of every machine.
std::set<std::string> needed_roofs(const PlotInput& input, const ViewState& view);

} // namespace eyeroof::report
