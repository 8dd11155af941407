#include "gui/views/drawing_view.hpp"

#include "gui/views/paint_scene.hpp"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <cmath>

namespace eyeroof::gui {

DrawingView::DrawingView(QWidget* parent) : QWidget(parent) {
    setMinimumWidth(240);
}

void DrawingView::show_drawing(Draw draw, bool grows) {
    draw_ = std::move(draw);
    grows_ = grows;
    rebuild();
}

void DrawingView::clear(const QString& instead) {
    draw_ = {};
    instead_ = instead;
    drawing_ = {};
    setAccessibleDescription(instead_);
    setMinimumHeight(60);
    update();
}

void DrawingView::rebuild() {
    if (draw_) {
        if (grows_) { // asked without a height: the least that nothing is cut at
            const double least = draw_({static_cast<double>(width()), 0.0}).canvas.height;
            setMinimumHeight(static_cast<int>(std::ceil(least)));
        }
        drawing_ = draw_({static_cast<double>(width()), static_cast<double>(height())});
        setAccessibleDescription(description());
    }
    update();
}

void DrawingView::resizeEvent(QResizeEvent*) {
    rebuild();
}

bool DrawingView::event(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        const auto* help = static_cast<QHelpEvent*>(event);
        QToolTip::showText(help->globalPos(), tip(help->pos()), this);
        return true;
    }
    return QWidget::event(event);
}

QString DrawingView::tip(QPointF place) const {
    return QString::fromStdString(report::tip_at(drawing_, {place.x(), place.y()}));
}

QString DrawingView::description() const {
    const std::string& more = drawing_.description;
    return QString::fromStdString(drawing_.title + (more.empty() ? "" : ": " + more));
}

void DrawingView::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.fillRect(rect(), colour_on(*this, report::ColourRole::background));
    if (draw_) {
        paint_scene(painter, drawing_, theme_of(*this));
    } else {
        painter.setPen(palette().color(QPalette::PlaceholderText));
        painter.drawText(rect().adjusted(12, 12, -12, -12), Qt::AlignCenter | Qt::TextWordWrap,
                         instead_);
    }
}

} // namespace eyeroof::gui
