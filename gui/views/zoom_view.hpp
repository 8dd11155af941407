// A drawing whose x axis can be zoomed and moved: wheel at the pointer, drag, double click for all;
// +, -, 0 and the arrows on the keyboard. A click that is no drag is a click on a box. Shift+drag
// is a ruler between two marks, Shift+click none.
#pragma once

#include "gui/views/drawing_view.hpp"

namespace eyeroof::gui {

class ZoomView : public DrawingView {
    Q_OBJECT

  public:
    struct Window {
        double from = 0.0, to = 1.0;
        bool operator==(const Window&) const = default;
    };

    // `left`, `right`: pixels beside the axis.
    ZoomView(double left, double right, QWidget* parent = nullptr);
    Window window() const { return window_; }
    bool zoomed() const { return window_ != Window{}; }
    void show_all();
    void set_window(double from, double to);

  signals:
    void window_changed(); // another part is to be drawn
    void clicked(QPointF place);
    void ruled(double from, double to); // shares of the whole; equal: no ruler
    void pressed(int key);              // any other key

  protected:
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

  private:
    double share_at(double x) const; // of the window, from the left
    void zoom(double at, double factor);

    double left_, right_;
    Window window_;
    std::optional<double> pressed_at_; // x
    Window pressed_;
    bool dragged_ = false;
    bool ruling_ = false;
};

} // namespace eyeroof::gui
