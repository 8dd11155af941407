#include "gui/views/before_arrows.hpp"

#include <QPainter>
#include <cmath>

namespace eyeroof::gui {

namespace {
constexpr double kLeastMove = 3.0; // pixels
constexpr double kHead = 6.0;
} // namespace

std::vector<BeforeArrow> before_arrows(const study::RooflineScene& scene,
                                       const std::map<std::string, QPointF>& before) {
    std::vector<BeforeArrow> arrows;
    const study::Placer place(scene.area);
    for (const study::ScenePoint& point : scene.points) {
        const auto was = before.find(point.id);
        if (was == before.end() || !(was->second.x() > 0.0) || !(was->second.y() > 0.0)) {
            continue;
        }
        const study::Place from = place(was->second.x(), was->second.y());
        const study::Place to = place(point.x, point.y);
        if (std::hypot(to.x - from.x, to.y - from.y) >= kLeastMove) {
            arrows.push_back({{from.x, from.y}, {to.x, to.y}});
        }
    }
    return arrows;
}

void paint_arrows(QPainter& painter, const study::RooflineScene& scene,
                  const std::vector<BeforeArrow>& arrows, study::Theme theme) {
    const study::Rgb rgb = colour_of(study::ColourRole::text, theme);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const study::Box& box = scene.area.box;
    painter.setClipRect(QRectF(box.left, box.top, box.width, box.height));
    painter.setPen(QPen(QColor(rgb.r, rgb.g, rgb.b), 1.4));
    for (const BeforeArrow& arrow : arrows) {
        painter.drawLine(arrow.from, arrow.to);
        const QPointF along = arrow.to - arrow.from;
        const double length = std::hypot(along.x(), along.y());
        const QPointF back = along / length * kHead;
        const QPointF side(-back.y() / 2.0, back.x() / 2.0);
        painter.drawLine(arrow.to, arrow.to - back + side);
        painter.drawLine(arrow.to, arrow.to - back - side);
    }
    painter.restore();
}

} // namespace eyeroof::gui
