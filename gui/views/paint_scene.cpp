#include "gui/views/paint_scene.hpp"

#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <QWidget>
#include <cmath>
#include <vector>

namespace eyeroof::gui {

using namespace study; // NOLINT(google-build-using-namespace): the vocabulary of the scenes

namespace {

class Brush {
  public:
    Brush(QPainter& painter, Theme theme) : p(painter), theme_(theme) {}

    QPainter& p;
    QColor colour(ColourRole role) const {
        const Rgb rgb = colour_of(role, theme_);
        return {rgb.r, rgb.g, rgb.b};
    }
    QColor ink(ColourRole role) const {
        const Rgb rgb = ink_of(role, theme_);
        return {rgb.r, rgb.g, rgb.b};
    }
    void pen(ColourRole role, double width, Qt::PenStyle style = Qt::SolidLine) const {
        p.setPen(QPen(colour(role), width, style));
    }
    // `anchor`: 0 left, 0.5 middle, 1 right.
    void text(Place at, const std::string& content, ColourRole role, double px, double anchor = 0.0,
              bool bold = false) const {
        QFont font = p.font();
        font.setPixelSize(static_cast<int>(std::lround(px)));
        font.setBold(bold);
        p.setFont(font);
        p.setPen(ink(role));
        const QString string = QString::fromStdString(content);
        const double width = anchor > 0.0 ? p.fontMetrics().horizontalAdvance(string) : 0.0;
        p.drawText(QPointF(at.x - anchor * width, at.y), string);
    }
    // Where `text` will put the same: lines below it keep a little away.
    void halo(Place at, const std::string& content, double px, double anchor = 0.0,
              bool bold = false) const {
        constexpr double kAround = 3.0;
        QFont font = p.font();
        font.setPixelSize(static_cast<int>(std::lround(px)));
        font.setBold(bold);
        const QString string = QString::fromStdString(content);
        const double width = anchor > 0.0 ? QFontMetricsF(font).horizontalAdvance(string) : 0.0;
        QPainterPath path;
        path.addText(at.x - anchor * width, at.y, font, string);
        p.strokePath(path, QPen(colour(ColourRole::plot), kAround, Qt::SolidLine, Qt::RoundCap,
                                Qt::RoundJoin));
    }
    void fill(const Box& box, ColourRole role, double opacity = 1.0) const {
        QColor shade = colour(role);
        shade.setAlphaF(static_cast<float>(opacity));
        p.fillRect(QRectF(box.left, box.top, box.width, box.height), shade);
    }

  private:
    Theme theme_;
};

QRectF rect_of(const Box& box) {
    return {box.left, box.top, box.width, box.height};
}
QPointF point_of(Place place) {
    return {place.x, place.y};
}

void draw_marker(const Brush& brush, const SceneSeries& series, Place at, double radius,
                 double edge) {
    brush.p.setBrush(brush.colour(series.hollow ? ColourRole::plot : series.colour));
    brush.pen(series.hollow ? series.colour : ColourRole::plot, series.hollow ? 1.8 : edge);
    const auto corners = marker_corners(series.marker);
    if (corners.empty()) {
        brush.p.drawEllipse(point_of(at), radius, radius);
        return;
    }
    QPolygonF polygon;
    for (const Place& corner : corners) {
        polygon << QPointF(at.x + radius * corner.x, at.y + radius * corner.y);
    }
    brush.p.drawPolygon(polygon);
}

// One picture for each series and size, and for each ring around them: drawing thousands of equal
// shapes is what costs.
class Sprites {
  public:
    Sprites(const Brush& brush, const RooflineScene& scene, Theme theme)
        : brush_(brush), scene_(scene), theme_(theme),
          ratio_(brush.p.device()->devicePixelRatioF()) {}

    void draw(const ScenePoint& point, Place at) {
        const int step = static_cast<int>(std::lround(point.radius * 2.0));
        place(
            sprite(
                point.series, step,
                [&](const Brush& brush, double half) {
                    brush.p.setOpacity(scene_.point_opacity);
                    draw_marker(brush, scene_.series[point.series], {half, half}, step / 2.0, 0.4);
                }),
            at);
        if (point.above_roof || point.selected) {
            const std::size_t ring = scene_.series.size() + (point.above_roof ? 0 : 1);
            place(sprite(ring, step,
                         [&](const Brush& brush, double half) {
                             draw_ring(brush, point, {half, half});
                         }),
                  at);
        }
    }

    static void draw_ring(const Brush& brush, const ScenePoint& point, Place at) {
        brush.p.setBrush(Qt::NoBrush);
        brush.pen(point.above_roof ? ColourRole::warning : ColourRole::selection, 2.0);
        brush.p.drawEllipse(point_of(at), point.radius * 1.3 + 3.0, point.radius * 1.3 + 3.0);
    }

  private:
    static constexpr std::size_t kSteps = 128; // half pixels of radius, more than any point has

    template <class Draw> const QPixmap& sprite(std::size_t kind, int step, const Draw& draw) {
        const std::size_t index =
            kind * kSteps +
            std::min<std::size_t>(kSteps - 1, static_cast<std::size_t>(std::max(0, step)));
        if (index >= sprites_.size()) {
            sprites_.resize(index + 1);
        }
        QPixmap& sprite = sprites_[index];
        if (sprite.isNull()) {
            const double half = std::ceil(step * 0.8 + 5.0);
            const int pixels = static_cast<int>(std::ceil(2.0 * half * ratio_));
            sprite = QPixmap(pixels, pixels);
            sprite.setDevicePixelRatio(ratio_);
            sprite.fill(Qt::transparent);
            QPainter painter(&sprite);
            painter.setRenderHint(QPainter::Antialiasing);
            draw(Brush(painter, theme_), half);
        }
        return sprite;
    }
    void place(const QPixmap& sprite, Place at) const {
        const double half = sprite.width() / ratio_ / 2.0;
        brush_.p.drawPixmap(QPointF(at.x - half, at.y - half), sprite);
    }

    const Brush& brush_;
    const RooflineScene& scene_;
    Theme theme_;
    double ratio_;
    std::vector<QPixmap> sprites_;
};

void paint_heading(const Brush& brush, const RooflineScene& scene) {
    double y = 16.0;
    if (!scene.title.empty()) {
        y += kTitlePx * 0.9;
        brush.text({16.0, y}, scene.title, ColourRole::text, kTitlePx, 0.0, true);
        y += kTitlePx * 0.45;
    }
    brush.text({16.0, y + kFontPx * 0.9}, scene.subtitle, ColourRole::faint, kFontPx);
    double below = scene.area.box.top - 8.0 - kFontPx * 1.35;
    for (auto w = scene.warnings.rbegin(); w != scene.warnings.rend(); ++w) {
        brush.text({16.0, below}, "! " + *w, ColourRole::warning, kFontPx);
        below -= kFontPx * 1.35;
    }
    for (auto note = scene.notes.rbegin(); note != scene.notes.rend(); ++note) {
        brush.text({16.0, below}, *note, ColourRole::faint, kFontPx);
        below -= kFontPx * 1.35;
    }
    brush.text({16.0, scene.area.box.top - 8.0}, scene.y_title, ColourRole::faint, kFontPx);
    for (const LegendEntry& entry : scene.legend) {
        draw_marker(brush, scene.series[entry.series], entry.marker, 5.0, 0.8);
        brush.text(entry.text, entry.name, ColourRole::text, kFontPx);
    }
}

void paint_axes(const Brush& brush, const RooflineScene& scene) {
    const Box& box = scene.area.box;
    brush.fill(box, ColourRole::plot);
    brush.p.setRenderHint(QPainter::Antialiasing, false);
    for (const bool major : {false, true}) {
        brush.pen(major ? ColourRole::grid : ColourRole::grid_minor, 1.0);
        for (const Tick& tick : scene.x_ticks) {
            const double x = scene.area.place_of(tick.value, scene.area.y.min).x;
            if (tick.major == major) {
                brush.p.drawLine(QPointF(x, box.top), QPointF(x, box.bottom()));
            }
        }
        for (const Tick& tick : scene.y_ticks) {
            const double y = scene.area.place_of(scene.area.x.min, tick.value).y;
            if (tick.major == major) {
                brush.p.drawLine(QPointF(box.left, y), QPointF(box.right(), y));
            }
        }
    }
    brush.pen(ColourRole::frame, 1.0);
    brush.p.setBrush(Qt::NoBrush);
    brush.p.drawRect(rect_of(box));
    brush.p.setRenderHint(QPainter::Antialiasing, true);
    for (const Tick& tick : scene.x_ticks) {
        const double x = scene.area.place_of(tick.value, scene.area.y.min).x;
        brush.text({x, box.bottom() + 16.0}, tick.label, ColourRole::faint, 11.0, 0.5);
    }
    for (const Tick& tick : scene.y_ticks) {
        const double y = scene.area.place_of(scene.area.x.min, tick.value).y;
        brush.text({box.left - 6.0, y + 4.0}, tick.label, ColourRole::faint, 11.0, 1.0);
    }
    brush.text({box.left + box.width / 2.0, box.bottom() + 38.0}, scene.x_title, ColourRole::faint,
               kFontPx, 0.5);
}

void paint_roofs(const Brush& brush, const RooflineScene& scene) {
    const PlotArea& area = scene.area;
    for (const SceneLink& link : scene.links) {
        const ScenePoint& a = scene.points[link.from];
        const ScenePoint& b = scene.points[link.to];
        brush.pen(ColourRole::faint, 1.0, Qt::DotLine);
        brush.p.drawLine(point_of(area.place_of(a.x, a.y)), point_of(area.place_of(b.x, b.y)));
    }
    for (const SceneRoof& roof : scene.roofs) {
        const double from = std::clamp(roof.from_x, area.x.min, area.x.max);
        const double to = std::clamp(roof.to_x, area.x.min, area.x.max);
        if (from < to) {
            brush.pen(roof.colour, roof.roof.measured ? 2.6 : 1.8,
                      roof.dashed ? Qt::DashLine : Qt::SolidLine);
            brush.p.drawLine(point_of(area.place_of(from, roof.y_at(from))),
                             point_of(area.place_of(to, roof.y_at(to))));
        }
    }
    for (const Ridge& ridge : scene.ridges) {
        brush.pen(ridge.colour, 1.6);
        brush.p.setBrush(brush.colour(ColourRole::plot));
        brush.p.drawEllipse(point_of(area.place_of(ridge.x, ridge.y)), 3.5, 3.5);
    }
}

void paint_points(const Brush& brush, const RooflineScene& scene, Theme theme) {
    const QRectF reach = rect_of(scene.area.box).adjusted(-16, -16, 16, 16);
    const bool many = scene.points.size() > 300;
    Sprites sprites(brush, scene, theme);
    const Placer place(scene.area);
    for (const ScenePoint& point : scene.points) {
        const Place at = place(point.x, point.y);
        if (!reach.contains(point_of(at))) {
            continue;
        }
        if (many) {
            sprites.draw(point, at);
            continue;
        }
        brush.p.setOpacity(scene.point_opacity);
        draw_marker(brush, scene.series[point.series], at, point.radius, 1.0);
        brush.p.setOpacity(1.0);
        if (point.above_roof || point.selected) {
            Sprites::draw_ring(brush, point, at);
        }
    }
}

void paint_labels(const Brush& brush, const RooflineScene& scene) {
    for (const SceneLabel& label : scene.labels) {
        brush.p.save();
        brush.p.translate(label.start.x, label.start.y);
        brush.p.rotate(label.degrees);
        const bool roof = label.kind == LabelKind::roof;
        const double px = roof ? kFontPx : 11.0;
        if (roof) { // those of points find a free place, and are too many to be outlined
            brush.halo({0.0, 0.0}, label.text, px);
        }
        brush.text({0.0, 0.0}, label.text, label.colour, px);
        brush.p.restore();
    }
}

} // namespace

void paint_scene(QPainter& painter, const RooflineScene& scene, Theme theme) {
    const Brush brush(painter, theme);
    painter.setRenderHint(QPainter::Antialiasing);
    brush.fill({0.0, 0.0, scene.canvas.width, scene.canvas.height}, ColourRole::background);
    paint_heading(brush, scene);
    paint_axes(brush, scene);
    painter.save();
    painter.setClipRect(rect_of(scene.area.box));
    paint_roofs(brush, scene);
    paint_points(brush, scene, theme);
    paint_labels(brush, scene);
    painter.restore();
}

void paint_scene(QPainter& painter, const WaterfallScene& scene, Theme theme) {
    Brush(painter, theme)
        .fill({0.0, 0.0, scene.canvas.width, scene.canvas.height}, ColourRole::background);
    paint_scene(painter, drawn(scene), theme);
}

void paint_scene(QPainter& painter, const Drawing& scene, Theme theme) {
    const Brush brush(painter, theme);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const DrawnBox& box : scene.boxes) {
        if (box.outline) {
            brush.pen(box.role, 1.0, box.dotted ? Qt::DotLine : Qt::SolidLine);
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(rect_of(box.box));
        } else {
            brush.fill(box.box, box.role, box.opacity);
        }
    }
    for (const DrawnLine& line : scene.lines) {
        brush.pen(line.role, line.width, line.dashed ? Qt::DashLine : Qt::SolidLine);
        for (std::size_t i = 1; i < line.through.size(); ++i) {
            painter.drawLine(point_of(line.through[i - 1]), point_of(line.through[i]));
        }
    }
    for (const DrawnText& text : scene.texts) {
        if (text.over) {
            brush.halo(text.at, text.text, text.px, text.anchor, text.bold);
        }
        brush.text(text.at, text.text, text.role, text.px, text.anchor, text.bold);
    }
}

Theme theme_of(const QWidget& widget) {
    const QPalette palette = widget.palette();
    return palette.color(QPalette::Window).lightness() <
                   palette.color(QPalette::WindowText).lightness()
               ? Theme::dark
               : Theme::light;
}

void paint_focus(QPainter& painter, const QWidget& widget) {
    if (widget.hasFocus()) {
        painter.setPen(QPen(widget.palette().color(QPalette::Highlight), 2.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1));
    }
}

} // namespace eyeroof::gui
