// A table whose rows are sorted by a column, and stay so while their figures change. What is
// selected stays selected.
#pragma once

#include <QAbstractTableModel>
#include <vector>

namespace eyeroof::gui {

class SortedModel : public QAbstractTableModel {
    Q_OBJECT

  public:
    using QAbstractTableModel::QAbstractTableModel;
    void sort(int column, Qt::SortOrder order) override;
    std::size_t row_of(int shown) const { return order_[static_cast<std::size_t>(shown)]; }
    int rowCount(const QModelIndex& parent = {}) const override;

  protected:
    virtual bool is_less(std::size_t a, std::size_t b, int column) const = 0; // rows of the data
    void set_row_count(std::size_t count); // in a reset of the model: rows and columns are others
    void sort_again();                     // figures are others

  private:
    std::vector<std::size_t> sorted_rows() const;

    std::vector<std::size_t> order_; // rows of the data, as they are shown
    int column_ = -1;                // that they are sorted by; -1: none
    Qt::SortOrder direction_ = Qt::AscendingOrder;
};

} // namespace eyeroof::gui
