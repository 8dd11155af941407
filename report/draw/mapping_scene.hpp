// A mapping as a picture: the loop nest as indented blocks, the array with its active, fragmented
// and idle units, and what each buffer holds; on GPUs the tiles of the result and the waves over
// the SMs. Made from a report's layer; painted by the mapping pane.
#pragma once

#include "analysis/exam/report.hpp"
#include "model/machine/machine.hpp"
#include "report/draw/drawing.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct MappingScene {
    Drawing drawing;     // its canvas is as high as it needs
    std::string summary; // "156 of 168 PEs work in every step, 12 never"
    // On accelerators; units by what the mapping gives them to do.
    Count always = 0, sometimes = 0, idle = 0;
    double averaged = 0.0; // active units, over the compute steps
};

// `nest`: index into the layer's mappings. `width`: available pixels.
MappingScene make_mapping_scene(const model::Machine& machine, const analysis::LayerReport& layer,
                                std::size_t nest, double width);

} // namespace eyeroof::report
