#include "gui/panes/table_style.hpp"

#include "gui/panes/focus_rim.hpp"

#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <algorithm>

namespace eyeroof::gui {

namespace {
constexpr int kTableRow = 20; // where the font is no larger
} // namespace

// Where the last column's texts need more than the room that is left, the table scrolls.
void fit_last(QTableView& table) {
    const QAbstractItemModel* model = table.model();
    const int last = model == nullptr ? -1 : model->columnCount() - 1;
    if (last < 0 || model->rowCount() == 0) {
        return;
    }
    QHeaderView& header = *table.horizontalHeader();
    const int others = header.length() - header.sectionSize(last);
    const int cells = static_cast<QAbstractItemView&>(table).sizeHintForColumn(last);
    const int needed = std::max(cells, header.sectionSizeHint(last));
    const bool room = others + needed <= table.viewport()->width();
    header.setStretchLastSection(room);
    if (!room) {
        header.resizeSection(last, needed);
    }
}

void style_table(QTableView& table, const QString& accessible_name) {
    table.setSelectionBehavior(QAbstractItemView::SelectRows);
    table.setEditTriggers(QAbstractItemView::NoEditTriggers);
    table.setTabKeyNavigation(false); // Tab goes on to the next pane
    table.setShowGrid(false);
    table.setAlternatingRowColors(true);
    table.setWordWrap(false);
    table.setFrameShape(QFrame::NoFrame);
    table.setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    table.verticalHeader()->hide();
    table.verticalHeader()->setDefaultSectionSize(
        std::max(kTableRow, table.fontMetrics().height() + 4));
    table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table.horizontalHeader()->setStretchLastSection(true);
    table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table.horizontalHeader()->setHighlightSections(false);
    table.setAccessibleName(accessible_name);
    new FocusRim(&table); // its own mark is a dotted cell, which may be out of sight
}

void fit_columns(QTableView& table) {
    table.resizeColumnsToContents();
    fit_last(table);
    table.horizontalScrollBar()->setValue(0);
}

} // namespace eyeroof::gui
