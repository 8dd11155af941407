#include "gui/window/choices.hpp"

#include "gui/panes/fields.hpp"
#include "gui/views/qt_text.hpp"

#include <QComboBox>
#include <QCompleter>
#include <QLabel>
#include <QLineEdit>

namespace eyeroof::gui {

Choices::Choices(QWidget* parent) : QToolBar(tr("What to examine"), parent) {
    setObjectName("choices");
    setMovable(false);
    network_ = combo(tr("Network"), "network", 150);
    network_->lineEdit()->setPlaceholderText(tr("choose, type or drop"));
    machine_ = combo(tr("on"), "machine", 160);
    machine_->lineEdit()->setPlaceholderText(tr("choose, type or drop"));
    other_ = combo(tr("against"), "other", 160);
    other_->setToolTip(tr("Another machine, or several: type their names with commas between"));
}

QComboBox* Choices::combo(const QString& label, const char* name, int width) {
    addWidget(new QLabel(" " + label + " ", this));
    QComboBox* box = name_chooser({}, name, this);
    box->setMinimumContentsLength(8); // the window may be narrow
    box->setMinimumWidth(width * 2 / 3);
    box->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    box->setMaximumWidth(2 * width);
    box->setAccessibleName(label == tr("on")        ? tr("Machine")
                           : label == tr("against") ? tr("Machines to compare with")
                                                    : label);
    connect(box->completer(), QOverload<const QString&>::of(&QCompleter::activated), this,
            [this] { choose(false); });
    addWidget(box);
    connect(box, &QComboBox::activated, this, [this] { choose(false); });
    connect(box->lineEdit(), &QLineEdit::returnPressed, this, [this] { choose(true); });
    return box;
}

// An editable list speaks up whenever it loses the focus.
void Choices::choose(bool again) {
    QStringList names = machines();
    names.prepend(network());
    if (again || names != reported_) {
        reported_ = names;
        emit chosen();
    }
}

// What the window sets itself it knows: losing the focus says nothing new.
void Choices::keep_reported() {
    reported_ = machines();
    reported_.prepend(network());
}

void Choices::fill(const Offered& offered) {
    const QSignalBlocker one(network_), two(machine_), three(other_);
    network_->addItem("");
    network_->addItems(offered.networks);
    machine_->addItem("");
    other_->addItem(tr(kNoMachine));
    for (const auto& entry : offered.machines) {
        machine_->addItem(text(entry.id));
        other_->addItem(text(entry.id));
    }
}

QString Choices::network() const {
    return network_->currentText().trimmed();
}

QStringList Choices::machines() const {
    QStringList names = {machine_->currentText().trimmed()};
    const QString others = other_->currentText().trimmed();
    if (others != tr(kNoMachine)) {
        for (const QString& name : others.split(',')) {
            names << name.trimmed();
        }
    }
    names.removeAll(QString());
    return names;
}

void Choices::set_network(const QString& name) {
    network_->setCurrentText(name);
    keep_reported();
}

void Choices::set_machine(const QString& name) {
    machine_->setCurrentText(name);
    reported_.clear();
}

void Choices::set_machines(const QStringList& names) {
    set_machine(names.value(0));
    other_->setCurrentText(names.size() < 2 ? tr(kNoMachine) : names.mid(1).join(", "));
    keep_reported();
}

} // namespace eyeroof::gui
