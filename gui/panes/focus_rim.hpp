// A rim around a widget for as long as it has the keyboard, above all that the widget paints: for
// tables, whose own mark is a dotted line around one cell, which may be out of sight. Takes no
// pointer and no key.
#pragma once

#include <QWidget>

namespace eyeroof::gui {

class FocusRim : public QWidget {
    Q_OBJECT

  public:
    explicit FocusRim(QWidget* around);

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
};

} // namespace eyeroof::gui
