// A name that gives way to the numbers beside it: cut in the middle where there is no room, whole
// as its tip.
#pragma once

#include <QLabel>

namespace eyeroof::gui {

class ElidedLabel : public QLabel {
    Q_OBJECT

  public:
    explicit ElidedLabel(const QString& text, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;
    QString shown() const; // what there is room for

  protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
};

} // namespace eyeroof::gui
