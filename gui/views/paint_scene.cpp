#include "gui/views/paint_scene.hpp"

#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <QPixmapCache>
#include <QWidget>
#include <QtMath>
#include <cmath>
#include <vector>

namespace eyeroof::gui {

using namespace report; // NOLINT(google-build-using-namespace): the vocabulary of the scenes

namespace {

QColor qt_colour(Rgb rgb) {
    return {rgb.r, rgb.g, rgb.b};
}

class Brush {
  public:
    Brush(QPainter& painter, Theme theme) : p(painter), theme_(theme) {}

    QPainter& p;
    Brush on(QPainter& painter) const { return {painter, theme_}; }
    QColor colour(ColourRole role) const { return qt_colour(colour_of(role, theme_)); }
    QColor ink(ColourRole role) const { return qt_colour(ink_of(role, theme_)); }
    void pen(ColourRole role, double width, Qt::PenStyle style = Qt::SolidLine) const {
        p.setPen(QPen(colour(role), width, style));
    }
    QFont sized(double px, bool bold) const {
        QFont font = p.font();
        font.setPixelSize(static_cast<int>(std::lround(px)));
        font.setBold(bold);
        return font;
    }
    // `anchor`: 0 left, 0.5 middle, 1 right.
    void text(Place at, const std::string& content, ColourRole role, double px, double anchor = 0.0,
              bool bold = false) const {
        p.setFont(sized(px, bold));
        p.setPen(ink(role));
        const QString string = QString::fromStdString(content);
        const double width = anchor > 0.0 ? p.fontMetrics().horizontalAdvance(string) : 0.0;
        p.drawText(QPointF(at.x - anchor * width, at.y), string);
    }
    // Where `text` will put the same: lines below it keep a little away.
    void halo(Place at, const std::string& content, double px, double anchor = 0.0,
              bool bold = false) const {
        constexpr double kAround = 3.0;
        const QFont font = sized(px, bold);
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

void draw_marker(const Brush& brush, const MarkerLook& look, Place at, double radius) {
    brush.p.setBrush(look.fill ? QBrush(brush.colour(*look.fill)) : QBrush(Qt::NoBrush));
    brush.pen(look.edge, look.edge_px);
    const auto corners = marker_corners(look.shape);
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

// One picture for each look and size: drawing thousands of equal shapes is what costs.
class Sprites {
  public:
    Sprites(const Brush& brush, const std::vector<MarkerLook>& looks)
        : brush_(brush), looks_(looks), ratio_(brush.p.device()->devicePixelRatioF()),
          sprites_(looks.size() * kSteps) {}

    void draw(const DrawnMarker& marker) {
        const auto step = static_cast<std::size_t>(std::max(0L, std::lround(marker.radius * 2.0)));
        const QPixmap& sprite = sprite_of(marker.look, std::min(step, kSteps - 1));
        const double half = sprite.width() / ratio_ / 2.0;
        brush_.p.drawPixmap(QPointF(marker.at.x - half, marker.at.y - half), sprite);
    }

  private:
    static constexpr std::size_t kSteps = 128; // half pixels of radius, more than any marker has

    const QPixmap& sprite_of(std::size_t look, std::size_t step) {
        QPixmap& sprite = sprites_[look * kSteps + step];
        if (sprite.isNull()) {
            const double radius = static_cast<double>(step) / 2.0;
            const double half = std::ceil(radius * 1.6 + 3.0); // a star's corners, and the edge
            const int pixels = static_cast<int>(std::ceil(2.0 * half * ratio_));
            sprite = QPixmap(pixels, pixels);
            sprite.setDevicePixelRatio(ratio_);
            sprite.fill(Qt::transparent);
            QPainter painter(&sprite);
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setOpacity(looks_[look].opacity);
            draw_marker(brush_.on(painter), looks_[look], {half, half}, radius);
        }
        return sprite;
    }

    const Brush& brush_;
    const std::vector<MarkerLook>& looks_;
    double ratio_;
    std::vector<QPixmap> sprites_;
};

void paint_boxes(const Brush& brush, const DrawnLayer& layer) {
    for (const DrawnBox& box : layer.boxes) {
        if (box.outline) {
            brush.pen(box.role, 1.0, box.dotted ? Qt::DotLine : Qt::SolidLine);
            brush.p.setBrush(Qt::NoBrush);
            brush.p.drawRect(rect_of(box.box));
        } else {
            brush.fill(box.box, box.role, box.opacity);
        }
    }
}

// Thin lines along an axis are crisp, all others smooth.
void paint_lines(const Brush& brush, const DrawnLayer& layer) {
    for (const DrawnLine& line : layer.lines) {
        brush.pen(line.role, line.width);
        if (line.dash != Dash::whole) { // patterns count in widths of the pen
            QPen pen = brush.p.pen();
            const DashPattern pattern = pattern_of(line.dash);
            pen.setCapStyle(Qt::FlatCap);
            pen.setDashPattern({pattern.on / line.width, pattern.off / line.width});
            brush.p.setPen(pen);
        }
        for (std::size_t i = 1; i < line.through.size(); ++i) {
            const Place from = line.through[i - 1];
            const Place to = line.through[i];
            const bool crisp =
                line.width <= 1.0 && line.dash == Dash::whole && (from.x == to.x || from.y == to.y);
            brush.p.setRenderHint(QPainter::Antialiasing, !crisp);
            brush.p.drawLine(point_of(from), point_of(to));
        }
    }
    brush.p.setRenderHint(QPainter::Antialiasing);
}

bool on_pixels(const QPainter& painter) {
    const QPaintEngine* engine = painter.paintEngine();
    return engine != nullptr && engine->type() == QPaintEngine::Raster;
}

// Pictures of markers only where pixels are painted: a PDF keeps the shapes.
void paint_markers(const Brush& brush, const DrawnLayer& layer) {
    constexpr std::size_t many = 300;
    if (layer.markers.size() > many && on_pixels(brush.p)) {
        Sprites sprites(brush, layer.looks);
        for (const DrawnMarker& marker : layer.markers) {
            sprites.draw(marker);
        }
        return;
    }
    for (const DrawnMarker& marker : layer.markers) {
        const MarkerLook& look = layer.looks[marker.look];
        brush.p.setOpacity(look.opacity);
        draw_marker(brush, look, marker.at, marker.radius);
    }
    brush.p.setOpacity(1.0);
}

void paint_text(const Brush& brush, const DrawnText& text, Place at) {
    if (text.over) {
        brush.halo(at, text.text, text.px, text.anchor, text.bold);
    }
    brush.text(at, text.text, text.role, text.px, text.anchor, text.bold);
}

// Texts that keep lines away, as pictures that are kept: while a plot is zoomed or a slider is
// dragged most labels stay the same, and outlining forty of them would be most of a frame.
class KeptTexts {
  public:
    explicit KeptTexts(const Brush& brush)
        : brush_(brush), metrics_(brush.p.font()), ratio_(brush.p.device()->devicePixelRatioF()) {}

    void draw(const DrawnText& text) {
        use(text);
        const QString string = QString::fromStdString(text.text);
        const QString key = before_ + string;
        QPixmap picture;
        if (!QPixmapCache::find(key, &picture)) {
            picture = made(text, metrics_.horizontalAdvance(string));
            QPixmapCache::insert(key, picture);
        }
        const double width = picture.width() / ratio_ - 2.0 * kAround;
        brush_.p.drawPixmap(QPointF(text.at.x - text.anchor * width - kAround,
                                    text.at.y - metrics_.ascent() - kAround),
                            picture);
    }

  private:
    static constexpr double kAround = 3.0;

    // What all labels of a kind have in common is asked once.
    void use(const DrawnText& text) {
        if (!before_.isEmpty() && text.px == px_ && text.bold == bold_ && text.role == role_) {
            return;
        }
        px_ = text.px;
        bold_ = text.bold;
        role_ = text.role;
        const QFont font = brush_.sized(px_, bold_);
        metrics_ = QFontMetricsF(font);
        before_ = QStringLiteral("over %1 %2 %3 %4 ")
                      .arg(font.key())
                      .arg(brush_.ink(role_).rgb())
                      .arg(brush_.colour(ColourRole::plot).rgb())
                      .arg(ratio_);
    }

    QPixmap made(const DrawnText& text, double width) const {
        const QSizeF size(width + 2.0 * kAround, metrics_.height() + 2.0 * kAround);
        QPixmap picture(qCeil(size.width() * ratio_), qCeil(size.height() * ratio_));
        picture.setDevicePixelRatio(ratio_);
        picture.fill(Qt::transparent);
        QPainter painter(&picture);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setFont(brush_.p.font());
        DrawnText alone = text;
        alone.anchor = 0.0;
        paint_text(brush_.on(painter), alone, {kAround, kAround + metrics_.ascent()});
        return picture;
    }

    const Brush& brush_;
    QFontMetricsF metrics_;
    double ratio_;
    double px_ = 0.0;
    bool bold_ = false;
    ColourRole role_ = ColourRole::text;
    QString before_; // the beginning of the key
};

void paint_texts(const Brush& brush, const DrawnLayer& layer) {
    const bool pixels = on_pixels(brush.p);
    KeptTexts kept(brush);
    for (const DrawnText& text : layer.texts) {
        if (text.degrees == 0.0 && text.over && pixels) {
            kept.draw(text);
            continue;
        }
        if (text.degrees == 0.0) {
            paint_text(brush, text, text.at);
            continue;
        }
        brush.p.save();
        brush.p.translate(point_of(text.at));
        brush.p.rotate(text.degrees);
        paint_text(brush, text, {});
        brush.p.restore();
    }
}

void paint_layer(const Brush& brush, const DrawnLayer& layer) {
    paint_boxes(brush, layer);
    paint_lines(brush, layer);
    paint_markers(brush, layer);
    paint_texts(brush, layer);
}

} // namespace

void paint_scene(QPainter& painter, const Drawing& scene, Theme theme) {
    const Brush brush(painter, theme);
    painter.setRenderHint(QPainter::Antialiasing);
    brush.fill({0.0, 0.0, scene.canvas.width, scene.canvas.height}, ColourRole::background);
    paint_layer(brush, scene);
    for (const ClippedLayer& layer : scene.layers) {
        paint_over(painter, layer, theme);
    }
}

void paint_over(QPainter& painter, const ClippedLayer& layer, Theme theme) {
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setClipRect(rect_of(layer.clip));
    paint_layer(Brush(painter, theme), layer);
    painter.restore();
}

Theme theme_of(const QWidget& widget) {
    const QPalette palette = widget.palette();
    return palette.color(QPalette::Window).lightness() <
                   palette.color(QPalette::WindowText).lightness()
               ? Theme::dark
               : Theme::light;
}

QColor colour_on(const QWidget& widget, ColourRole role) {
    return qt_colour(colour_of(role, theme_of(widget)));
}

QColor ink_on(const QWidget& widget, ColourRole role) {
    return qt_colour(ink_of(role, theme_of(widget)));
}

void paint_focus(QPainter& painter, const QWidget& widget) {
    if (widget.hasFocus()) {
        painter.setPen(QPen(widget.palette().color(QPalette::Highlight), 2.0));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1));
    }
}

} // namespace eyeroof::gui
