// A table as it stands, for the report.
#pragma once

#include <QString>

class QTableView;

namespace eyeroof::gui {

// Visible columns in their order; full texts where a cell has more than it shows.
QString table_html(const QTableView& table);

} // namespace eyeroof::gui
