// The roofline as a Drawing: what the window paints, and what is written as SVG. Places nothing:
// what is where stands in the scene.
#pragma once

#include "report/draw/drawing.hpp"
#include "report/draw/roofline_scene.hpp"

#include <map>

namespace eyeroof::report {

// Axes, legend and heading as the drawing's own layer; links, roofs, points and labels in a layer
// within the axes.
Drawing drawn(const RooflineScene& scene);

// Whether the drawing has the point, as a marker that counts, in the order of the scene's points:
// those far outside of the axes are left out.
bool is_drawn(const RooflineScene& scene, const ScenePoint& point);

// From where a point was before to where it is; pixels.
struct BeforeArrow {
    Place from, to;

    bool operator==(const BeforeArrow&) const = default;
};

// `before`: FLOP/byte and FLOP/s by the points' ids. Those that hardly moved have no arrow.
std::vector<BeforeArrow> before_arrows(const RooflineScene& scene,
                                       const std::map<std::string, Place>& before);

// The same drawing with arrows above it.
Drawing with_arrows(Drawing drawing, const std::vector<BeforeArrow>& arrows);

} // namespace eyeroof::report
