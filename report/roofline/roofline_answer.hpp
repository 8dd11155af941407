// The points and roofs of a plot as an answer, eyeroof/roofline/1. Text draws them in characters,
// with a letter for each of the heaviest points; CSV has the points, then the roofs.
#pragma once

#include "report/answer/answer.hpp"
#include "report/draw/roofline_scene.hpp"

#include <string>

namespace eyeroof::report {

// words: the question, in place of the plot's title; may be empty.
Answer roofline_answer(const RooflineScene& scene, const PlotInput& input,
                       const std::string& words = {});

} // namespace eyeroof::report
