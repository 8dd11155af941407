#include "gui/panes/fields.hpp"

#include "gui/views/qt_text.hpp"

#include <QCheckBox>
#include <QComboBox>
#include <QCompleter>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

namespace eyeroof::gui {

QComboBox* name_chooser(const QString& placeholder, const char* name, QWidget* parent) {
    auto* box = new QComboBox(parent);
    box->setEditable(true);
    box->setInsertPolicy(QComboBox::NoInsert);
    box->lineEdit()->setPlaceholderText(placeholder);
    box->setMinimumContentsLength(12);
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setObjectName(name);
    box->setAccessibleName(placeholder);
    box->setMaxVisibleItems(30);
    box->completer()->setFilterMode(Qt::MatchContains); // "100" finds a100 and h100
    box->completer()->setCompletionMode(QCompleter::PopupCompletion);
    return box;
}

void add_entries(QComboBox& box, const Entries& entries) {
    for (const auto& [shown, value] : entries) {
        box.addItem(shown, value);
    }
}

QComboBox* list_field(const QString& name, const QString& what, const Entries& entries,
                      QWidget* parent) {
    auto* box = named(new QComboBox(parent), name, what);
    add_entries(*box, entries);
    return box;
}

QSpinBox* whole_field(const QString& name, const QString& what, int least, int most,
                      QWidget* parent) {
    auto* box = named(new QSpinBox(parent), name, what);
    box->setRange(least, most);
    box->setKeyboardTracking(false);
    return box;
}

QCheckBox* check_field(const QString& name, const QString& label, const QString& what,
                       QWidget* parent) {
    auto* box = new QCheckBox(label, parent);
    box->setObjectName(name);
    box->setToolTip(what);
    return box;
}

Entries trainings() {
    return {{QObject::tr("training, SGD"), "sgd"},
            {QObject::tr("training, momentum"), "sgd_momentum"},
            {QObject::tr("training, Adam"), "adam"}};
}

Entries upgrade_phases() {
    Entries phases = {{QObject::tr("mixed-precision training"), ""},
                      {QObject::tr("inference"), "inference"}};
    for (auto& training : trainings()) {
        phases.push_back(training);
    }
    return phases;
}

Entries launches(const QString& eager) {
    return {{QObject::tr("eager calls"), eager},
            {QObject::tr("back to back"), "stream"},
            {QObject::tr("CUDA graph"), "graph"},
            {QObject::tr("kernels alone"), "none"}};
}

QComboBox* type_chooser(const QString& what, QWidget* parent) {
    auto* combo = list_field({}, what, {{QObject::tr("as in the network"), {}}}, parent);
    for (const std::string_view known : model::data_type_names()) {
        combo->addItem(text(known), text(known));
    }
    return combo;
}

std::optional<model::DataType> type_of(const QComboBox& box) {
    return model::data_type_from_name(box.currentData().toString().toStdString());
}

void choose_type(QComboBox& box, const std::optional<model::DataType>& type) {
    const int known = type ? box.findData(text(model::data_type_name(*type))) : 0;
    box.setCurrentIndex(std::max(0, known)); // 0: the layers' own
}

QDoubleSpinBox* price_field(const QString& prefix, const QString& none, const QString& what,
                            double most, double step, QWidget* parent) {
    auto* spin = named(new QDoubleSpinBox(parent), {}, what);
    spin->setRange(0.0, most);
    spin->setDecimals(most > 5000.0 ? 0 : 2);
    spin->setSingleStep(step);
    spin->setPrefix(prefix + " $");
    spin->setSpecialValueText(prefix + " " + none);
    spin->setKeyboardTracking(false);
    return spin;
}

std::optional<double> price_of(const QDoubleSpinBox& box) {
    return box.value() > 0.0 ? std::optional(box.value()) : std::nullopt;
}

QToolButton* remove_button(const QString& name, QWidget* parent) {
    auto* button =
        named(new QToolButton(parent), "remove " + name, QObject::tr("Remove %1").arg(name));
    button->setText("✕");
    button->setAutoRaise(true);
    return button;
}

QHBoxLayout* line_in(QVBoxLayout& rows, QWidget*& row, QWidget* parent) {
    row = new QWidget(parent);
    auto* line = bare<QHBoxLayout>(row, 4);
    rows.addWidget(row);
    return line;
}

} // namespace eyeroof::gui
