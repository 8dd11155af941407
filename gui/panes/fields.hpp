// Fields that toolbars, pages, and panes share: lists to choose from, prices, buttons that remove.
#pragma once

#include "model/workload/layer.hpp"

#include <QString>
#include <optional>
#include <utility>
#include <vector>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QSpinBox;
class QToolButton;
class QVBoxLayout;
class QWidget;

namespace eyeroof::gui {

// By its object name, and for screen readers and as a tooltip by what it is.
template <class Field> Field* named(Field* field, const QString& name, const QString& what) {
    field->setObjectName(name);
    field->setAccessibleName(what);
    field->setToolTip(what);
    return field;
}

// A layout without margins; `spacing` -1: that of the style.
template <class Layout> Layout* bare(QWidget* of, int spacing = -1) {
    auto* layout = new Layout(of);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(spacing);
    return layout;
}

// A list that can be typed into: "100" finds a100 and h100.
QComboBox* name_chooser(const QString& placeholder, const char* name, QWidget* parent);

using Entries = std::vector<std::pair<QString, QString>>; // what is shown, and its value
void add_entries(QComboBox& box, const Entries& entries);
QComboBox* list_field(const QString& name, const QString& what, const Entries& entries,
                      QWidget* parent);
QSpinBox* whole_field(const QString& name, const QString& what, int least, int most,
                      QWidget* parent); // speaks once it is entered
QCheckBox* check_field(const QString& name, const QString& label, const QString& what,
                       QWidget* parent);

Entries trainings();                    // by their optimizers
Entries upgrade_phases();               // mixed-precision training, inference, trainings
Entries launches(const QString& eager); // `eager`: the value of eager calls

QComboBox* type_chooser(const QString& what, QWidget* parent);
std::optional<model::DataType> type_of(const QComboBox& box);
void choose_type(QComboBox& box, const std::optional<model::DataType>& type);

// 0 says `none`.
QDoubleSpinBox* price_field(const QString& prefix, const QString& none, const QString& what,
                            double most, double step, QWidget* parent);
std::optional<double> price_of(const QDoubleSpinBox& box);

QToolButton* remove_button(const QString& name, QWidget* parent);

// A new line at the end of the rows.
QHBoxLayout* line_in(QVBoxLayout& rows, QWidget*& row, QWidget* parent);

} // namespace eyeroof::gui
