// What a kernel has at each memory level: its place, the roof above it, and the time between them.
// Drawn over a roofline while the pointer is on a point, and listed on its card.
#pragma once

#include "report/draw/drawing.hpp"
#include "report/draw/roofline_scene.hpp"

#include <set>
#include <string>
#include <vector>

namespace eyeroof::report {

// The kernel at one level, below the lower of that level's roof and the arithmetic.
struct LevelCeiling {
    std::string level;
    double bytes = 0.0;      // of one execution
    bool at_least = false;   // the bytes are a lower bound
    double intensity = 0.0;  // FLOP/byte; 0: unknown
    double allowed = 0.0;    // FLOP/s; 0: the machine has no such roof
    std::string roof;        // which is the lower one
    double headroom_s = 0.0; // what one execution takes longer than at the roof; negative: less

    bool operator==(const LevelCeiling&) const = default;
};

// Of every level that the point has bytes for, outermost first. `visible`: ids of the roofs that
// count; null: all.
std::vector<LevelCeiling> ceilings_of(const PlotInput& input, const PlotPoint& point,
                                      const std::set<std::string>* visible = nullptr);

// Joins the point's levels that are in view, and leads from each to its roof, with the headroom
// beside it.
ClippedLayer hover_layer(const PlotInput& input, const RooflineScene& scene, std::size_t point);

} // namespace eyeroof::report
