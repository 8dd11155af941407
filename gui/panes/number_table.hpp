// Tables of a few rows that are rebuilt for every answer: cells that sort as numbers, and one look
// for all of them.
#pragma once

#include <QString>

class QAbstractItemModel;
class QTableView;
class QTableWidget;
class QTableWidgetItem;
class QWidget;

namespace eyeroof::gui {

// Whole rows are selected, bands instead of a grid, headers on the left of text.
void style_table(QTableView& table, const QString& accessible_name);

QTableWidget* number_table(const QString& accessible_name, QWidget* parent);

// Columns as wide as what stands in them, headers on the side of their numbers.
void fit_columns(QTableWidget& table);

// The same look for a model, whose headers know their side.
QTableView* model_table(QAbstractItemModel& model, const QString& accessible_name, QWidget* parent);
void fit_columns(QTableView& table);

QTableWidgetItem* cell(const QString& shown);
QTableWidgetItem* cell(const QString& shown, double value); // sorts by the value

} // namespace eyeroof::gui
