#include "gui/window/keys.hpp"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>

namespace eyeroof::gui {

namespace {

// Something that was typed and not entered yet.
bool has_own_undo(const QObject& field) {
    if (const auto* line = qobject_cast<const QLineEdit*>(&field)) {
        return line->isModified() && line->isUndoAvailable();
    }
    const auto* editor = qobject_cast<const QPlainTextEdit*>(&field);
    return editor != nullptr && editor->document()->isUndoAvailable();
}

// A field that only lies below the pointer: the wheel scrolls what is around it.
bool passes_the_wheel_on(QObject* watched) {
    auto* field = qobject_cast<QWidget*>(watched);
    return field != nullptr && !field->hasFocus() &&
           (qobject_cast<QAbstractSpinBox*>(field) != nullptr ||
            qobject_cast<QComboBox*>(field) != nullptr);
}

} // namespace

bool WindowKeys::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Polish) { // else the wheel would give it the focus
        if (auto* field = qobject_cast<QWidget*>(watched);
            field != nullptr && field->focusPolicy() == Qt::WheelFocus) {
            field->setFocusPolicy(Qt::StrongFocus);
        }
    }
    if (event->type() == QEvent::Wheel && passes_the_wheel_on(watched)) {
        event->ignore();
        return true;
    }
    if (event->type() != QEvent::ShortcutOverride) {
        return QObject::eventFilter(watched, event);
    }
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool control = key->modifiers() & Qt::ControlModifier;
    const bool undo = key->key() == Qt::Key_Z || key->key() == Qt::Key_Y;
    const bool ours = control && (key->key() == Qt::Key_E || (undo && !has_own_undo(*watched)));
    if (!ours) {
        return QObject::eventFilter(watched, event);
    }
    event->ignore(); // the field does not want it: the shortcut is the window's
    return true;
}

} // namespace eyeroof::gui
