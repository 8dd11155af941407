// One look for all tables.
#pragma once

#include <QString>

class QTableView;

namespace eyeroof::gui {

// Whole rows are selected, bands instead of a grid, headers on the left of text.
void style_table(QTableView& table, const QString& accessible_name);

void fit_columns(QTableView& table); // as wide as what stands in them
void fit_last(QTableView& table);    // the last column takes the room that is left

} // namespace eyeroof::gui
