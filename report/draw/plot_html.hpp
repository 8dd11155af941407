// A roofline plot as one self-contained HTML page: the SVG, a card under the pointer, the table of
// its rows with a filter, a slider for the share of the time. A click on a point or a row leaves it
// alone on the plot. Computes nothing.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

// The same plot with the bytes of one memory level, or of all.
struct LevelScene {
    std::string level; // as the reader chooses it: "DRAM"
    RooflineScene scene;
};

// `scene` as it was made of `view`, then the plot with the bytes of every other level that a point
// knows, and of all.
std::vector<LevelScene> level_scenes(const RooflineScene& scene, const PlotInput& input,
                                     const ViewState& view, const Canvas& canvas);

// The first one is shown; with several the page has a choice of levels. lead, end: HTML above and
// below all else.
std::string to_html(const std::vector<LevelScene>& views, const PlotInput& input,
                    const std::string& lead = {}, const std::string& end = {});

} // namespace eyeroof::report
