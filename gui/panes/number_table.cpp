#include "gui/panes/number_table.hpp"

#include "gui/panes/focus_rim.hpp"

#include <QHeaderView>
#include <QScrollBar>
#include <QTableWidget>
#include <algorithm>

namespace eyeroof::gui {

namespace {
constexpr int kRowHeight = 24;

class Number : public QTableWidgetItem {
  public:
    using QTableWidgetItem::QTableWidgetItem;
    bool operator<(const QTableWidgetItem& other) const override {
        return data(Qt::UserRole).toDouble() < other.data(Qt::UserRole).toDouble();
    }
};

// The last column takes the room that is left; where its texts need more, the table scrolls.
void fit_last(QTableView& table, int needed) {
    const QAbstractItemModel* model = table.model();
    const int last = model == nullptr ? -1 : model->columnCount() - 1;
    if (last < 0 || model->rowCount() == 0) {
        return;
    }
    QHeaderView& header = *table.horizontalHeader();
    const int others = header.length() - header.sectionSize(last);
    needed = std::max(needed, header.sectionSizeHint(last));
    const bool room = others + needed <= table.viewport()->width();
    header.setStretchLastSection(room);
    if (!room) {
        header.resizeSection(last, needed);
    }
}

template <class View> class Rows : public View {
  public:
    using View::View;

    void fit() {
        const int last = this->model() == nullptr ? -1 : this->model()->columnCount() - 1;
        fit_last(*this, last < 0 ? 0 : this->sizeHintForColumn(last));
    }

  protected:
    void resizeEvent(QResizeEvent* event) override {
        View::resizeEvent(event);
        fit();
    }
};

} // namespace

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
    table.verticalHeader()->setDefaultSectionSize(kRowHeight);
    table.verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table.horizontalHeader()->setStretchLastSection(true);
    table.horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table.horizontalHeader()->setHighlightSections(false);
    table.setAccessibleName(accessible_name);
    new FocusRim(&table); // its own mark is a dotted cell, which may be out of sight
}

QTableWidget* number_table(const QString& accessible_name, QWidget* parent) {
    auto* table = new Rows<QTableWidget>(parent);
    style_table(*table, accessible_name);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    return table;
}

void fit_columns(QTableWidget& table) {
    for (int column = 0; column < table.columnCount() && table.rowCount() > 0; ++column) {
        const QTableWidgetItem* first = table.item(0, column);
        QTableWidgetItem* header = table.horizontalHeaderItem(column);
        if (first != nullptr && header != nullptr) {
            const bool right = (first->textAlignment() & Qt::AlignRight) != 0;
            header->setTextAlignment(Qt::AlignVCenter | (right ? Qt::AlignRight : Qt::AlignLeft));
        }
    }
    fit_columns(static_cast<QTableView&>(table));
}

QTableView* model_table(QAbstractItemModel& model, const QString& accessible_name,
                        QWidget* parent) {
    auto* table = new Rows<QTableView>(parent);
    table->setModel(&model);
    style_table(*table, accessible_name);
    table->setSelectionMode(QAbstractItemView::SingleSelection);
    return table;
}

void fit_columns(QTableView& table) {
    table.resizeColumnsToContents();
    if (auto* widget = dynamic_cast<Rows<QTableWidget>*>(&table)) {
        widget->fit();
    } else if (auto* view = dynamic_cast<Rows<QTableView>*>(&table)) {
        view->fit();
    }
    table.horizontalScrollBar()->setValue(0);
}

QTableWidgetItem* cell(const QString& shown) {
    auto* item = new QTableWidgetItem(shown);
    item->setToolTip(shown);
    return item;
}

QTableWidgetItem* cell(const QString& shown, double value) {
    auto* item = new Number(shown);
    item->setData(Qt::UserRole, value);
    item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
    return item;
}

} // namespace eyeroof::gui
