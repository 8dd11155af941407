#include "gui/views/ladder_view.hpp"

#include "gui/views/paint_scene.hpp"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>

namespace eyeroof::gui {

LadderView::LadderView(QWidget* parent) : QWidget(parent) {
    setMinimumSize(360, 264);
    setFocusPolicy(Qt::StrongFocus);
    setAccessibleName(tr("Seven steps"));
    setCursor(Qt::PointingHandCursor);
}

void LadderView::show_scene(Draw draw) {
    draw_ = std::move(draw);
    rebuild();
}

void LadderView::clear() {
    draw_ = {};
    marked_ = 0;
    rebuild();
}

void LadderView::mark_step(std::size_t step) {
    marked_ = step;
    update();
}

void LadderView::rebuild() {
    scene_.reset();
    if (draw_) {
        scene_ = draw_({static_cast<double>(width()), static_cast<double>(height())});
        setAccessibleDescription(QString::fromStdString(scene_->title + ": " + scene_->subtitle));
    }
    update();
}

const report::WaterfallBar* LadderView::bar_below(QPointF place) const {
    const auto bar = scene_ ? report::bar_at(*scene_, {place.x(), place.y()}) : std::nullopt;
    return bar ? &scene_->bars[*bar] : nullptr;
}

void LadderView::resizeEvent(QResizeEvent*) {
    rebuild();
}

void LadderView::mousePressEvent(QMouseEvent* event) {
    const report::WaterfallBar* bar = bar_below(event->position());
    if (bar != nullptr && bar->step > 0) {
        emit step_clicked(bar->step);
    } else if (bar != nullptr && !bar->parameter.empty()) {
        emit parameter_clicked(QString::fromStdString(bar->parameter));
    }
}

void LadderView::keyPressEvent(QKeyEvent* event) {
    const int step = event->key() - Qt::Key_0;
    if (scene_ && step >= 1 && step <= static_cast<int>(model::kSteps)) {
        emit step_clicked(static_cast<std::size_t>(step));
        return;
    }
    QWidget::keyPressEvent(event);
}

bool LadderView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        const report::WaterfallBar* bar = bar_below(help->pos());
        QToolTip::showText(help->globalPos(),
                           bar == nullptr ? QString() : QString::fromStdString(bar->reason), this);
        return true;
    }
    return QWidget::event(event);
}

void LadderView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const report::Rgb back = colour_of(report::ColourRole::background, theme_of(*this));
    painter.fillRect(rect(), QColor(back.r, back.g, back.b));
    if (!scene_) {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect(), Qt::AlignCenter, tr("Select a layer to see what limits it"));
        return;
    }
    paint_scene(painter, drawn(*scene_), theme_of(*this));
    for (const report::WaterfallBar& bar : scene_->bars) {
        if (marked_ > 0 && bar.step == marked_) {
            painter.setPen(QPen(palette().color(QPalette::Highlight), 1.5));
            painter.setBrush(Qt::NoBrush);
            painter.drawRect(
                QRectF(bar.row.left + 2, bar.row.top, bar.row.width - 4, bar.row.height));
        }
    }
    paint_focus(painter, *this);
}

} // namespace eyeroof::gui
