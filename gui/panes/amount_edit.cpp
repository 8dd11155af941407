#include "gui/panes/amount_edit.hpp"

#include "gui/panes/fields.hpp"
#include "gui/views/paint_scene.hpp"
#include "gui/views/qt_text.hpp"

#include <QPalette>

namespace eyeroof::gui {

AmountEdit::AmountEdit(const char* name, const QString& what, const QString& hint, Parser parser,
                       QWidget* parent)
    : QLineEdit(parent), what_(what), parser_(std::move(parser)) {
    named(this, name, what);
    setPlaceholderText(hint);
    connect(this, &QLineEdit::editingFinished, this, [this] {
        if (read()) {
            emit changed();
        }
    });
}

void AmountEdit::set_value(std::optional<double> value) {
    value_ = value;
    setText(value ? QString::number(*value, 'g', 12) : QString());
    mark_wrong(*this, {}, what_);
}

bool AmountEdit::read() {
    const std::string typed = QLineEdit::text().trimmed().toStdString();
    const std::optional<double> before = value_;
    if (typed.empty()) {
        value_.reset();
        mark_wrong(*this, {}, what_);
        return before.has_value();
    }
    const auto amount = parser_(typed);
    if (!amount) {
        const Diagnostic& why = *amount.diagnostics().begin();
        mark_wrong(*this, gui::text(why.message + ": " + why.hint), what_);
        return false;
    }
    value_ = *amount;
    mark_wrong(*this, {}, what_);
    return value_ != before;
}

void mark_wrong(QLineEdit& edit, const QString& why, const QString& tooltip) {
    QPalette palette;
    if (!why.isEmpty()) {
        palette.setColor(QPalette::Text, ink_on(edit, report::ColourRole::warning));
    }
    edit.setPalette(palette);
    edit.setToolTip(why.isEmpty() ? tooltip : why);
}

} // namespace eyeroof::gui
