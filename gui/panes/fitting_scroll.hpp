// A scroll area that is never narrower than what it holds, so that no value at its right edge is
// cut. It scrolls up and down only, and not before what it holds is as low as it can be.
#pragma once

#include <QScrollArea>

namespace eyeroof::gui {

class FittingScroll : public QScrollArea {
    Q_OBJECT

  public:
    explicit FittingScroll(QWidget* content, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;
    QSize sizeHint() const override;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace eyeroof::gui
