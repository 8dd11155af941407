#include "gui/panes/sorted_model.hpp"

#include <algorithm>
#include <numeric>

namespace eyeroof::gui {

int SortedModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(order_.size());
}

// Equal rows stand in the order of the data.
std::vector<std::size_t> SortedModel::sorted_rows() const {
    std::vector<std::size_t> rows(order_.size());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (column_ >= 0 && column_ < columnCount()) {
        const bool up = direction_ == Qt::AscendingOrder;
        std::ranges::stable_sort(rows, [&](std::size_t a, std::size_t b) {
            return is_less(up ? a : b, up ? b : a, column_);
        });
    }
    return rows;
}

void SortedModel::set_row_count(std::size_t count) {
    order_.resize(count);
    order_ = sorted_rows();
}

void SortedModel::sort(int column, Qt::SortOrder order) {
    column_ = column;
    direction_ = order;
    sort_again();
}

void SortedModel::sort_again() {
    const std::vector<std::size_t> now = sorted_rows();
    if (now == order_) {
        return;
    }
    emit layoutAboutToBeChanged();
    std::vector<int> places(now.size()); // of the data's rows
    for (std::size_t i = 0; i < now.size(); ++i) {
        places[now[i]] = static_cast<int>(i);
    }
    for (const QModelIndex& old : persistentIndexList()) {
        changePersistentIndex(old, index(places[row_of(old.row())], old.column()));
    }
    order_ = now;
    emit layoutChanged();
}

} // namespace eyeroof::gui
