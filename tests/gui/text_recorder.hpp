// A paint device that keeps the texts of a picture with the places they take, so that tests can say
// whether one is cut or covers another.
#pragma once

#include <QFontMetricsF>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QPainter>
#include <vector>

namespace eyeroof::gui::testing {

struct PaintedText {
    QString text;
    QRectF box;
    bool turned = false;
};

class RecordingEngine : public QPaintEngine {
  public:
    RecordingEngine() : QPaintEngine(AllFeatures) {}
    std::vector<PaintedText> texts;

    bool begin(QPaintDevice*) override { return true; }
    bool end() override { return true; }
    Type type() const override { return User; }
    void updateState(const QPaintEngineState& state) override {
        if (state.state() & DirtyTransform) {
            transform_ = state.transform();
        }
    }
    void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
    void drawPath(const QPainterPath&) override {}
    void drawRects(const QRectF*, int) override {}
    void drawRects(const QRect*, int) override {}
    void drawLines(const QLineF*, int) override {}
    void drawLines(const QLine*, int) override {}
    void drawEllipse(const QRectF&) override {}
    void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
    void drawPolygon(const QPoint*, int, PolygonDrawMode) override {}
    void drawTextItem(const QPointF& at, const QTextItem& item) override {
        const QFontMetricsF metrics(item.font());
        const QRectF box(at.x(), at.y() - metrics.capHeight(),
                         metrics.horizontalAdvance(item.text()), metrics.capHeight());
        texts.push_back({item.text(), transform_.mapRect(box), transform_.isRotating()});
    }

  private:
    QTransform transform_;
};

class Recorder : public QPaintDevice {
  public:
    explicit Recorder(QSize size) : size_(size) {}
    const std::vector<PaintedText>& texts() const { return engine_.texts; }
    QPaintEngine* paintEngine() const override { return &engine_; }

  protected:
    int metric(PaintDeviceMetric what) const override {
        switch (what) {
        case PdmWidth:
            return size_.width();
        case PdmHeight:
            return size_.height();
        case PdmWidthMM:
            return size_.width() * 254 / 960;
        case PdmHeightMM:
            return size_.height() * 254 / 960;
        case PdmNumColors:
            return 1 << 24;
        case PdmDepth:
            return 32;
        case PdmDevicePixelRatio:
            return 1;
        case PdmDevicePixelRatioScaled:
            return static_cast<int>(devicePixelRatioFScale());
        default:
            return 96;
        }
    }

  private:
    QSize size_;
    mutable RecordingEngine engine_;
};

} // namespace eyeroof::gui::testing
