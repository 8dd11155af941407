#include "gui/panes/fitting_scroll.hpp"

#include <QEvent>
#include <QScrollBar>

namespace eyeroof::gui {

namespace {
constexpr int kLeastHeight = 120;
}

FittingScroll::FittingScroll(QWidget* content, QWidget* parent) : QScrollArea(parent) {
    setWidgetResizable(true);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setWidget(content);
}

QSize FittingScroll::minimumSizeHint() const {
    const int bar = verticalScrollBar()->sizeHint().width();
    return {widget() == nullptr ? 0 : widget()->minimumSizeHint().width() + bar, kLeastHeight};
}

QSize FittingScroll::sizeHint() const {
    return {minimumSizeHint().width(), QScrollArea::sizeHint().height()};
}

bool FittingScroll::eventFilter(QObject* watched, QEvent* event) {
    if (watched == widget() && event->type() == QEvent::LayoutRequest) {
        updateGeometry();
    }
    return QScrollArea::eventFilter(watched, event);
}

} // namespace eyeroof::gui
