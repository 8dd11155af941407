// The tables of answers in the window, all from one model.
#pragma once

#include "report/answer/answer.hpp"

#include <QAbstractTableModel>

namespace eyeroof::gui {

// Rows and columns of a table as people see them; headers have the columns' meaning as a tooltip.
class AnswerModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    using QAbstractTableModel::QAbstractTableModel;
    void show(report::AnswerTable table);
    const report::AnswerTable& table() const { return table_; }

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    report::AnswerTable table_;
    std::vector<std::size_t> columns_; // of the table, that are seen
};

} // namespace eyeroof::gui
