#include "gui/views/ladder_view.hpp"

#include "gui/views/paint_scene.hpp"
#include "gui/views/qt_text.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

namespace eyeroof::gui {

LadderView::LadderView(QWidget* parent) : DrawingView(parent) {
    setMinimumSize(360, 264);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Seven steps"));
    setCursor(Qt::PointingHandCursor);
}

void LadderView::show_scene(DrawScene draw) {
    show_drawing(
        [this, draw = std::move(draw)](const report::Canvas& canvas) {
            scene_ = draw(canvas);
            return drawn(*scene_);
        },
        false);
}

void LadderView::clear() {
    scene_.reset();
    marked_ = 0;
    DrawingView::clear(tr("Select a layer to see what limits it"));
    setMinimumHeight(264);
}

void LadderView::mark_step(std::size_t step) {
    marked_ = step;
    update();
}

const report::WaterfallBar* LadderView::bar_below(QPointF place) const {
    const auto bar = scene_ ? report::bar_at(*scene_, {place.x(), place.y()}) : std::nullopt;
    return bar ? &scene_->bars[*bar] : nullptr;
}

QString LadderView::tip(QPointF place) const {
    const report::WaterfallBar* bar = bar_below(place);
    return bar == nullptr ? QString() : text(bar->reason);
}

QString LadderView::description() const {
    QStringList bars;
    for (const report::WaterfallBar& bar : scene_->bars) {
        bars << text(bar.name + " " + bar.value + (bar.change.empty() ? "" : " " + bar.change));
    }
    return text(scene_->title + ", " + scene_->subtitle + ": ") + bars.join("; ");
}

void LadderView::mousePressEvent(QMouseEvent* event) {
    const report::WaterfallBar* bar = bar_below(event->position());
    if (bar != nullptr && bar->step > 0) {
        emit step_clicked(bar->step);
    } else if (bar != nullptr && !bar->parameter.empty()) {
        emit parameter_clicked(text(bar->parameter));
    }
}

void LadderView::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() - Qt::Key_0;
    if (scene_ && step >= 1 && step <= static_cast<int>(model::kSteps)) {
        emit step_clicked(static_cast<std::size_t>(step));
        return;
    }
    DrawingView::keyPressEvent(event);
}

void LadderView::paintEvent(QPaintEvent* event) {
    DrawingView::paintEvent(event);
    QPainter painter(this);
    for (std::size_t i = 0; scene_ && i < scene_->bars.size(); ++i) {
        const report::WaterfallBar& bar = scene_->bars[i];
        if (marked_ > 0 && bar.step == marked_) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5));
            painter.drawRect(
                QRectF(bar.row.left + 2, bar.row.top, bar.row.width - 4, bar.row.height));
        }
    }
    paint_focus(painter, *this);
}

} // namespace eyeroof::gui
