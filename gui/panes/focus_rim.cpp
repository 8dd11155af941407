#include "gui/panes/focus_rim.hpp"

#include "gui/views/paint_scene.hpp"

#include <QEvent>
#include <QPainter>

namespace eyeroof::gui {

FocusRim::FocusRim(QWidget* around) : QWidget(around) {
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setFocusPolicy(Qt::NoFocus);
    around->installEventFilter(this);
    hide();
}

bool FocusRim::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        setGeometry(parentWidget()->rect());
    } else if (event->type() == QEvent::FocusIn) {
        setGeometry(parentWidget()->rect());
        raise();
        show();
    } else if (event->type() == QEvent::FocusOut) {
        hide();
    }
    return QWidget::eventFilter(watched, event);
}

void FocusRim::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    paint_focus(painter, *parentWidget());
}

} // namespace eyeroof::gui
