#include "gui/views/zoom_view.hpp"

#include "gui/views/paint_scene.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {
constexpr double kNarrowest = 1e-6; // of the whole
constexpr double kStep = 1.25;      // of a notch or a key
constexpr double kDragged = 4.0;    // pixels from which a press is a drag
} // namespace

ZoomView::ZoomView(double left, double right, QWidget* parent)
    : DrawingView(parent), left_(left), right_(right) {
    setFocusPolicy(Qt::StrongFocus);
}

void ZoomView::show_all() {
    set_window(0.0, 1.0);
}

double ZoomView::share_at(double x) const {
    return std::clamp((x - left_) / std::max(width() - left_ - right_, 1.0), 0.0, 1.0);
}

void ZoomView::set_window(double from, double to) {
    const double span = std::clamp(to - from, kNarrowest, 1.0);
    from = std::clamp(from, 0.0, 1.0 - span);
    const Window wanted{from, from + span};
    if (wanted != window_) {
        window_ = wanted;
        emit window_changed();
    }
}

// What is at the place stays there.
void ZoomView::zoom(double at, double factor) {
    const double span = window_.to - window_.from;
    const double fixed = window_.from + span * at;
    const double wanted = std::clamp(span / factor, kNarrowest, 1.0);
    set_window(fixed - wanted * at, fixed + wanted * (1.0 - at));
}

void ZoomView::wheelEvent(QWheelEvent* event) {
    const double notches = event->angleDelta().y() / 120.0;
    zoom(share_at(event->position().x()), std::pow(kStep, notches));
    event->accept();
}

void ZoomView::mousePressEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        pressed_at_ = event->position().x();
        pressed_ = window_;
        dragged_ = false;
        ruling_ = event->modifiers() & Qt::ShiftModifier;
    }
}

void ZoomView::mouseMoveEvent(QMouseEvent* event) {
    if (!pressed_at_) {
        return;
    }
    const double moved = event->position().x() - *pressed_at_;
    dragged_ = dragged_ || std::abs(moved) >= kDragged;
    if (dragged_ && ruling_) {
        const auto whole = [&](double x) {
            return window_.from + (window_.to - window_.from) * share_at(x);
        };
        const auto [from, to] = std::minmax({whole(*pressed_at_), whole(event->position().x())});
        emit ruled(from, to);
    } else if (dragged_) {
        const double span = pressed_.to - pressed_.from;
        const double by = -moved / std::max(width() - left_ - right_, 1.0) * span;
        const double from = std::clamp(pressed_.from + by, 0.0, 1.0 - span);
        set_window(from, from + span);
    }
}

void ZoomView::mouseReleaseEvent(QMouseEvent* event) {
    pressed_at_.reset();
    if (!dragged_ && event->button() == Qt::LeftButton) {
        ruling_ ? emit ruled(0.0, 0.0) : emit clicked(event->position());
    }
}

void ZoomView::mouseDoubleClickEvent(QMouseEvent* event) {
    if (event->button() == Qt::LeftButton) {
        show_all();
    }
}

void ZoomView::keyPressEvent(QKeyEvent* event) {
    const double span = window_.to - window_.from;
    const auto move = [&](double by) {
        const double from = std::clamp(window_.from + by * span, 0.0, 1.0 - span);
        set_window(from, from + span);
    };
    switch (event->key()) {
    case Qt::Key_Plus:
        return zoom(0.5, kStep);
    case Qt::Key_Minus:
        return zoom(0.5, 1.0 / kStep);
    case Qt::Key_0:
        return show_all();
    case Qt::Key_Left:
        return move(-0.1);
    case Qt::Key_Right:
        return move(0.1);
    default:
        emit pressed(event->key());
        DrawingView::keyPressEvent(event);
    }
}

void ZoomView::paintEvent(QPaintEvent* event) {
    DrawingView::paintEvent(event);
    if (hasFocus()) {
        QPainter painter(this);
        paint_focus(painter, *this);
    }
}

} // namespace eyeroof::gui
