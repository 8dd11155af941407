// Shortcuts of the window that hold also where a text field has the focus: fields have keys of
// their own for moving and undoing, which come first only while there is something to undo in them.
// And the wheel: it scrolls what is around a field that does not have the focus.
// Installed by the main window on the application.
#pragma once

#include <QObject>

namespace eyeroof::gui {

class WindowKeys : public QObject {
    Q_OBJECT

  public:
    using QObject::QObject;

  protected:
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace eyeroof::gui
