#include "gui/views/roofline_view.hpp"

#include "base/units.hpp"
#include "gui/views/clean_registers.hpp"
#include "gui/views/discard.hpp"
#include "gui/views/paint_scene.hpp"
#include "report/draw/roofline_hover.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <cmath>
#include <map>
#include <utility>

namespace eyeroof::gui {

using namespace analysis;
using namespace report; // NOLINT(google-build-using-namespace): the vocabulary of the scenes

namespace {
constexpr double kZoomStep = 0.85;   // span after one notch of the wheel
constexpr double kClickPixels = 4.0; // a shorter drag is a click
constexpr std::size_t kMostUndo = 100;
} // namespace

RooflineView::RooflineView(QWidget* parent) : QWidget(parent) {
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setMinimumSize(320, 240);
    setAccessibleName(tr("Roofline plot"));
    rebuild();
}

Canvas RooflineView::canvas() const {
    return {static_cast<double>(width()), static_cast<double>(height())};
}

void RooflineView::set_plot(PlotInput input) {
    input_ = freed_in_background(std::move(input));
    rebuild();
}

void RooflineView::set_view(const ViewState& view) {
    const ViewState before = view_;
    view_ = view;
    const bool others = view.filter != before.filter || view.top != before.top ||
                        view.top_share != before.top_share || view.only != before.only;
    if (others && view.x == before.x && view.y == before.y) { // what is left is in sight
        view_.x.reset();
        view_.y.reset();
    }
    auto scene = make_scene(*input_, view_, canvas());
    if (!scene) {
        view_ = before;
        emit problem(QString::fromStdString(to_string(scene.diagnostics().items().front())));
        return;
    }
    scene_ = std::move(*scene);
    pointed_.reset();
    layer_ = {};
    update();
    emit view_changed();
}

void RooflineView::set_selection(const std::set<std::string>& ids) {
    if (view_.selection == ids) {
        return;
    }
    view_.selection = ids;
    lay_out_again();
    emit selection_changed();
}

void RooflineView::show_before(std::map<std::string, Place> before) {
    if (before != before_) {
        before_ = std::move(before);
        layer_ = {};
        update();
    }
}

void RooflineView::rebuild() {
    auto scene = make_scene(*input_, view_, canvas());
    if (scene) {
        scene_ = std::move(*scene);
    }
    card_.clear();
    pointed_.reset();
    layer_ = {};
    update();
}

void RooflineView::lay_out_again() {
    lay_out(scene_, view_, canvas());
    layer_ = {};
    update();
}

void RooflineView::remember_ranges() {
    zooms_.emplace_back(view_.x, view_.y);
    if (zooms_.size() > kMostUndo) {
        zooms_.erase(zooms_.begin());
    }
}

void RooflineView::change_ranges(LogRange x, LogRange y, bool remember) {
    if (remember) {
        remember_ranges();
    }
    view_.x = legal(x);
    view_.y = legal(y);
    lay_out_again();
    emit ranges_changed();
}

void RooflineView::zoom_at(QPointF pixel, double factor) {
    const PlotArea& area = scene_.area;
    change_ranges(zoomed(area.x, area.x_at(pixel.x()), factor),
                  zoomed(area.y, area.y_at(pixel.y()), factor), true);
}

void RooflineView::zoom_to(const QRectF& pixels) {
    const PlotArea& area = scene_.area;
    change_ranges({area.x_at(pixels.left()), area.x_at(pixels.right())},
                  {area.y_at(pixels.bottom()), area.y_at(pixels.top())}, true);
}

void RooflineView::undo_zoom() {
    if (zooms_.empty()) {
        return;
    }
    std::tie(view_.x, view_.y) = zooms_.back();
    zooms_.pop_back();
    lay_out_again();
    emit ranges_changed();
}

void RooflineView::reset_zoom() {
    if (view_.x || view_.y) {
        remember_ranges();
        view_.x.reset();
        view_.y.reset();
        lay_out_again();
        emit ranges_changed();
    }
}

bool RooflineView::fit(bool selected) {
    constexpr double around = 4.0; // times, each way
    std::optional<LogRange> x, y;
    const auto widen = [&](std::optional<LogRange>& range, double at) {
        range = range
                    ? LogRange{std::min(range->min, at / around), std::max(range->max, at * around)}
                    : LogRange{at / around, at * around};
    };
    for (const ScenePoint& point : scene_.points) {
        if (!selected || view_.selection.contains(point.id)) {
            widen(x, point.x);
            widen(y, point.y);
        }
    }
    if (x) {
        change_ranges(*x, *y, true);
    }
    return x.has_value();
}

void RooflineView::pan(double x_share, double y_share) {
    change_ranges(panned(scene_.area.x, x_share), panned(scene_.area.y, y_share), false);
}

void RooflineView::select_in(const QRectF& box, bool add) {
    std::set<std::string> ids = add ? view_.selection : std::set<std::string>{};
    for (const std::size_t i :
         points_in(scene_, {box.left(), box.top(), box.width(), box.height()})) {
        ids.insert(scene_.points[i].id);
    }
    set_selection(ids);
}

// Out of sight, or back.
void RooflineView::toggle_series(std::size_t series) {
    const std::string& key = scene_.series.at(series).key;
    ViewState view = view_;
    if (view.hidden_series.erase(key) == 0) {
        view.hidden_series.insert(key);
    }
    set_view(view);
}

// By weight, heaviest first; around at the ends.
void RooflineView::select_next(int step) {
    const auto count = static_cast<int>(scene_.points.size());
    if (count == 0) {
        return;
    }
    int at = step > 0 ? count : -1; // behind the heaviest, which is the last
    for (int i = 0; i < count; ++i) {
        at = scene_.points[static_cast<std::size_t>(i)].selected ? i : at;
    }
    const int next = (at - step + count) % count;
    set_selection({scene_.points[static_cast<std::size_t>(next)].id});
}

// Whose markers lie at the same place as the one that the card is of.
void RooflineView::add_others(std::vector<CardRow>& card, std::size_t shown, Place place) const {
    constexpr std::size_t most = 6;
    constexpr double reach = 4.0; // pixels, as point_at
    std::vector<std::string> names;
    const Placer placer(scene_.area);
    for (std::size_t i = scene_.points.size(); i-- > 0;) { // the heaviest first
        const ScenePoint& point = scene_.points[i];
        const Place at = placer(point.x, point.y);
        if (i != shown && std::hypot(at.x - place.x, at.y - place.y) <= point.radius + reach) {
            names.push_back(shortened(point.name, 40) +
                            (input_->points.at(point.source).measured ? " (measured)" : ""));
        }
    }
    std::string text;
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
        text += (i > 0 ? ", " : "") + names[i];
    }
    if (names.size() > most) {
        text += " and " + std::to_string(names.size() - most) + " more";
    }
    if (!names.empty()) {
        card.push_back({"also here", text});
    }
}

void RooflineView::show_card(QPoint at) {
    hover_ = at;
    const Place place{static_cast<double>(at.x()), static_cast<double>(at.y())};
    setCursor(legend_at(scene_, place) ? Qt::PointingHandCursor : Qt::ArrowCursor);
    std::vector<CardRow> card;
    const auto before = std::exchange(pointed_, point_at(scene_, place));
    if (const auto point = pointed_) {
        card = card_of(*input_, scene_.points[*point]);
        add_others(card, *point, place);
    } else if (const auto roof = roof_at(scene_, place)) {
        card = card_of(*input_, scene_.roofs[*roof]);
    }
    if (!card.empty() || !card_.empty() || before != pointed_) {
        card_ = std::move(card);
        update();
    }
    const bool inside = overlap({place.x, place.y, 0.1, 0.1}, scene_.area.box);
    emit pointed_at(
        inside ? QString("%1 FLOP/byte   %2")
                     .arg(scene_.area.x_at(place.x), 0, 'g', 3)
                     .arg(QString::fromStdString(format_si(scene_.area.y_at(place.y), "FLOP/s")))
               : QString());
}

std::optional<ClippedLayer> RooflineView::levels() const {
    std::optional<std::size_t> of = pointed_;
    for (std::size_t i = 0; !of && view_.selection.size() == 1 && i < scene_.points.size(); ++i) {
        of = scene_.points[i].selected ? std::optional(i) : std::nullopt;
    }
    return of ? std::optional(hover_layer(*input_, scene_, *of)) : std::nullopt;
}

void RooflineView::paintEvent(QPaintEvent*) {
    if (layer_.isNull()) {
        layer_ = QPixmap(size() * devicePixelRatioF());
        layer_.setDevicePixelRatio(devicePixelRatioF());
        QPainter painter(&layer_);
        clean_registers();
        paint_scene(painter, drawing(), theme_of(*this));
    }
    QPainter painter(this);
    painter.drawPixmap(0, 0, layer_);
    if (const auto over = levels()) {
        paint_over(painter, *over, theme_of(*this));
    }
    if (drag_ == Drag::select || drag_ == Drag::zoom) {
        painter.setPen(QPen(palette().color(QPalette::Highlight), 1.0, Qt::DashLine));
        painter.drawRect(QRectF(pressed_, last_).normalized());
    }
    if (drag_ == Drag::none && !card_.empty()) {
        paint_card(painter);
    }
    paint_focus(painter, *this);
}

void RooflineView::paint_card(QPainter& painter) const {
    const QFontMetrics metrics = painter.fontMetrics();
    constexpr int most = 440;
    int names = 0;
    int values = 0;
    for (const CardRow& row : card_) {
        names = std::max(names, metrics.horizontalAdvance(QString::fromStdString(row.what)));
        values = std::max(values, metrics.horizontalAdvance(QString::fromStdString(row.value)));
    }
    values = std::min(values, most);
    std::vector<QRect> cells; // long names are wrapped, never cut
    int y = 0;
    for (const CardRow& row : card_) {
        const QRect box = metrics.boundingRect(0, 0, values + 1, 10000, Qt::TextWrapAnywhere,
                                               QString::fromStdString(row.value));
        cells.emplace_back(names + 12, y, values + 1, box.height());
        y += box.height();
    }
    const QSize size(names + values + 32, y + 16);
    const bool below = hover_.y() + 16 + size.height() <= height();
    constexpr int beside = 150; // of the way to the roofs, with its texts
    const int left = std::clamp(hover_.x() + (below || !pointed_ ? 16 : beside), 0,
                                std::max(0, width() - size.width()));
    const int top = below ? hover_.y() + 16 : std::max(0, hover_.y() - 12 - size.height());
    painter.setPen(palette().color(QPalette::Mid));
    painter.setBrush(palette().color(QPalette::ToolTipBase));
    painter.drawRoundedRect(QRect({left, top}, size), 5, 5);
    for (std::size_t i = 0; i < card_.size(); ++i) {
        const QRect cell = cells[i].translated(left + 10, top + 8);
        painter.setPen(palette().color(QPalette::ToolTipText));
        painter.drawText(QRect(left + 10, cell.top(), names, cell.height()), Qt::AlignTop,
                         QString::fromStdString(card_[i].what));
        painter.drawText(cell, Qt::TextWrapAnywhere, QString::fromStdString(card_[i].value));
    }
}

void RooflineView::resizeEvent(QResizeEvent*) {
    lay_out_again();
}

void RooflineView::mousePressEvent(QMouseEvent* event) {
    pressed_ = last_ = event->position();
    const bool left = event->button() == Qt::LeftButton;
    drag_ = !left ? Drag::pan : event->modifiers() & Qt::ShiftModifier ? Drag::zoom : Drag::select;
    if (drag_ == Drag::pan) {
        remember_ranges();
    }
}

void RooflineView::mouseMoveEvent(QMouseEvent* event) {
    const QPointF at = event->position();
    if (drag_ == Drag::pan) {
        const QPointF moved = at - last_;
        last_ = at;
        pan(-moved.x() / scene_.area.box.width, moved.y() / scene_.area.box.height);
        return;
    }
    last_ = at;
    if (drag_ == Drag::none) {
        show_card(at.toPoint());
    } else {
        update();
    }
}

void RooflineView::mouseReleaseEvent(QMouseEvent* event) {
    const Drag drag = drag_;
    drag_ = Drag::none;
    const QRectF box = QRectF(pressed_, event->position()).normalized();
    const bool click = box.width() < kClickPixels && box.height() < kClickPixels;
    const bool add = event->modifiers() & Qt::ControlModifier;
    if (drag == Drag::select && !click) {
        select_in(box, add);
    } else if (const auto series = legend_at(scene_, {box.left(), box.top()});
               drag == Drag::select && series) {
        toggle_series(*series);
    } else if (drag == Drag::select) {
        std::set<std::string> ids = add ? view_.selection : std::set<std::string>{};
        if (const auto point = point_at(scene_, {box.left(), box.top()})) {
            ids.insert(scene_.points[*point].id);
        }
        set_selection(ids);
    } else if (drag == Drag::zoom && !click) {
        zoom_to(box);
    } else if (drag == Drag::pan && click && event->button() == Qt::RightButton) {
        zooms_.pop_back(); // nothing moved
        const auto point = point_at(scene_, {box.left(), box.top()});
        if (point && !scene_.points[*point].selected) { // the menu is about what was clicked
            set_selection({scene_.points[*point].id});
        }
        emit customContextMenuRequested(event->position().toPoint());
    }
    update();
}

void RooflineView::mouseDoubleClickEvent(QMouseEvent*) {
    reset_zoom();
}

void RooflineView::wheelEvent(QWheelEvent* event) {
    const double notches = event->angleDelta().y() / 120.0;
    zoom_at(event->position(), std::pow(kZoomStep, notches));
    event->accept();
}

void RooflineView::keyPressEvent(QKeyEvent* event) {
    const QPointF middle(scene_.area.box.left + scene_.area.box.width / 2.0,
                         scene_.area.box.top + scene_.area.box.height / 2.0);
    constexpr double step = 0.1;
    switch (event->key()) {
    case Qt::Key_Left:
        return pan(-step, 0.0);
    case Qt::Key_Right:
        return pan(step, 0.0);
    case Qt::Key_Up:
        return pan(0.0, step);
    case Qt::Key_Down:
        return pan(0.0, -step);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoom_at(middle, kZoomStep);
    case Qt::Key_Minus:
        return zoom_at(middle, 1.0 / kZoomStep);
    case Qt::Key_0:
        return reset_zoom();
    case Qt::Key_F:
        fit(false);
        return;
    case Qt::Key_Backspace:
        return undo_zoom();
    case Qt::Key_Escape: // in a window that has no shortcut of its own for it
        return set_selection({});
    case Qt::Key_N:
        return select_next(1);
    case Qt::Key_P:
        return select_next(-1);
    default:
        QWidget::keyPressEvent(event);
    }
}

// The right button moves the plot; its menu opens when it was not dragged.
void RooflineView::contextMenuEvent(QContextMenuEvent* event) {
    if (event->reason() == QContextMenuEvent::Keyboard) {
        emit customContextMenuRequested(event->pos());
    }
    event->accept();
}

void RooflineView::leaveEvent(QEvent*) {
    card_.clear();
    pointed_.reset();
    update();
    emit pointed_at({});
}

void RooflineView::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange) {
        layer_ = {};
        update();
    }
    QWidget::changeEvent(event);
}

} // namespace eyeroof::gui
