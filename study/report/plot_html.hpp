// A roofline plot as one HTML page without outside parts: the SVG, a card under the pointer, and
// the table of its rows with a filter. Called by cli and gui. Computes nothing.
#pragma once

#include "study/draw/roofline_scene.hpp"

#include <string>

namespace eyeroof::study {

std::string to_html(const RooflineScene& scene, const PlotInput& input);

} // namespace eyeroof::study
