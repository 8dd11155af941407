// Fields that toolbars, pages, and panes share: lists to choose from, prices, buttons that remove.
#pragma once

#include "model/workload/layer.hpp"

#include <QString>
#include <optional>
#include <utility>
#include <vector>

class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QToolButton;
class QVBoxLayout;
class QWidget;

namespace eyeroof::gui {

// A list that can be typed into: "100" finds a100 and h100.
QComboBox* name_chooser(const QString& placeholder, const char* name, QWidget* parent);

using Entries = std::vector<std::pair<QString, QString>>; // what is shown, and its value
void add_entries(QComboBox& box, const Entries& entries);

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
