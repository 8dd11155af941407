// Arrows on the plot from where points were before to where they are.
// Used by the roofline view.
// Knows no report.
#pragma once

#include "study/draw/roofline_scene.hpp"

#include <QPointF>
#include <map>
#include <string>
#include <vector>

class QPainter;

namespace eyeroof::gui {

struct BeforeArrow {
    QPointF from, to; // pixels
};

// `before`: FLOP/byte and FLOP/s by the points' ids. Those that hardly moved have no arrow.
std::vector<BeforeArrow> before_arrows(const study::RooflineScene& scene,
                                       const std::map<std::string, QPointF>& before);

void paint_arrows(QPainter& painter, const study::RooflineScene& scene,
                  const std::vector<BeforeArrow>& arrows, study::Theme theme);

} // namespace eyeroof::gui
