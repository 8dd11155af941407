#include "gui/panes/snap_slider.hpp"

#include <QPainter>
#include <QStyleOptionSlider>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace eyeroof::gui {

namespace {

constexpr int kSnapPixels = 2; // that the pointer must leave a snap point by

} // namespace

SnapSlider::SnapSlider(QWidget* parent) : QSlider(Qt::Horizontal, parent) {
    const int most = step_of(kMostFactor);
    setRange(-most, most);
    setSingleStep(1);
    setPageStep(10);
}

double SnapSlider::factor_of(int step) {
    for (const double snap : snaps()) { // exactly twice, not 2.007 times
        if (step == step_of(snap)) {
            return snap;
        }
    }
    return std::pow(kStep, step);
}

int SnapSlider::step_of(double factor) {
    const double most = std::round(std::log(kMostFactor) / std::log(kStep));
    const double step = std::log(std::max(factor, 1e-9)) / std::log(kStep);
    return static_cast<int>(std::lround(std::clamp(step, -most, most)));
}

void SnapSlider::set_factor(double factor) {
    setValue(step_of(factor));
}

const std::vector<double>& SnapSlider::snaps() {
    static const std::vector<double> factors = {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0};
    return factors;
}

// While the pointer holds it: near a snap point it is at the snap point.
void SnapSlider::sliderChange(SliderChange change) {
    QSlider::sliderChange(change);
    if (change != SliderValueChange || !isSliderDown() || snapping_) {
        return;
    }
    const double per_pixel = static_cast<double>(maximum() - minimum()) / std::max(1, width());
    const int reach = std::max(1, static_cast<int>(std::lround(kSnapPixels * per_pixel)));
    for (const double snap : snaps()) {
        const int at = step_of(snap);
        if (value() != at && std::abs(value() - at) <= reach) {
            snapping_ = true;
            setValue(at);
            snapping_ = false;
            return;
        }
    }
}

// One per cent a notch, however many lines the desktop scrolls by. Without Ctrl the pane scrolls,
// also where the slider that was dragged last is below the pointer.
void SnapSlider::wheelEvent(QWheelEvent* event) {
    if (!(event->modifiers() & Qt::ControlModifier)) {
        return event->ignore();
    }
    const int notches = event->angleDelta().y() / 120;
    setValue(value() + notches * singleStep());
    event->accept();
}

void SnapSlider::paintEvent(QPaintEvent* event) {
    QStyleOptionSlider option;
    initStyleOption(&option);
    const QRect groove =
        style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderGroove, this);
    const QRect handle =
        style()->subControlRect(QStyle::CC_Slider, &option, QStyle::SC_SliderHandle, this);
    const int room = groove.width() - handle.width();
    QPainter painter(this);
    painter.setPen(palette().color(QPalette::Mid));
    for (const double snap : snaps()) {
        const int x = groove.left() + handle.width() / 2 +
                      QStyle::sliderPositionFromValue(minimum(), maximum(), step_of(snap), room);
        const int long_mark = snap == 1.0 ? 5 : 3;
        painter.drawLine(x, height() - long_mark, x, height() - 1);
    }
    painter.end();
    QSlider::paintEvent(event);
}

} // namespace eyeroof::gui
