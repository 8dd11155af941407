#include "gui/window/keys.hpp"

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

} // namespace

bool WindowKeys::eventFilter(QObject* watched, QEvent* event) {
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
