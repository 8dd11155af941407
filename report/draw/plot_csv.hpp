// The rows behind a roofline plot as CSV: exactly the points and roofs that the scene shows.
// Computes nothing.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <string>

namespace eyeroof::report {

// One row a point, then one row a roof; the first column says which. Units are in the header.
std::string to_csv(const RooflineScene& scene, const PlotInput& input);
// The same rows as JSON, schema "eyeroof/roofline/1".
std::string to_json(const RooflineScene& scene, const PlotInput& input);

} // namespace eyeroof::report
