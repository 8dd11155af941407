// The fields that the upgrade form is made of: lists to choose from, prices, buttons that remove.
#pragma once

#include "model/workload/layer.hpp"

#include <QString>
#include <optional>

class QComboBox;
class QDoubleSpinBox;
class QHBoxLayout;
class QToolButton;
class QVBoxLayout;
class QWidget;

namespace eyeroof::gui {

// A list that can be typed into: "100" finds a100 and h100.
QComboBox* name_chooser(const QString& placeholder, const char* name, QWidget* parent);

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
