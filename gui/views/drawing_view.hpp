// A drawing as a widget, rebuilt for every size; tells what is below the pointer.
#pragma once

#include "report/draw/drawing.hpp"

#include <QWidget>
#include <functional>

namespace eyeroof::gui {

class DrawingView : public QWidget {
    Q_OBJECT

  public:
    using Draw = std::function<report::Drawing(const report::Canvas&)>;

    explicit DrawingView(QWidget* parent = nullptr);

    // `grows`: the widget is never lower than the drawing needs at this width.
    void show_drawing(Draw draw, bool grows);
    void clear(const QString& instead);
    const report::Drawing& drawing() const { return drawing_; }

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool event(QEvent* event) override;
    virtual QString tip(QPointF place) const; // of what is below the pointer
    virtual QString description() const;      // for people who cannot see the drawing

  private:
    void rebuild();

    Draw draw_;
    bool grows_ = false;
    QString instead_;
    report::Drawing drawing_;
};

} // namespace eyeroof::gui
