// A logarithmic slider of a factor: a step is 1 %, and it stays at round factors (a quarter, half,
// once, twice …) while the pointer drags it past them. Keys take single steps and stay
// nowhere, as does the wheel where the slider has the focus; else the wheel scrolls what is around.
#pragma once

#include <QSlider>
#include <vector>

namespace eyeroof::gui {

class SnapSlider : public QSlider {
    Q_OBJECT

  public:
    static constexpr double kStep = 1.01;
    static constexpr double kMostFactor = 8.0; // at either end, and its inverse

    explicit SnapSlider(QWidget* parent = nullptr);
    double factor() const { return factor_of(value()); }
    void set_factor(double factor);
    static double factor_of(int step);
    static int step_of(double factor); // nearest, within the ends
    // Factors that hold the pointer, as marks below the groove.
    static const std::vector<double>& snaps();

  protected:
    void paintEvent(QPaintEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void sliderChange(SliderChange change) override;

  private:
    bool snapping_ = false;
};

} // namespace eyeroof::gui
