#include "gui/panes/answer_table.hpp"

#include "gui/panes/number_table.hpp"
#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"

#include <QTableView>

namespace eyeroof::gui {

namespace {

bool is_right(const report::Head& head) {
    return head.kind != report::Kind::text && head.kind != report::Kind::list;
}

// A list in whole; the chain of a layer as it stands in text.
QString tooltip_of(const report::Value& value, report::Unit unit) {
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        QStringList names;
        for (const std::string& name : *list) {
            names << text(name);
        }
        return names.join(", ");
    }
    return text(report::value_text(value, unit));
}

} // namespace

void AnswerModel::show(report::AnswerTable table) {
    beginResetModel();
    table_ = std::move(table);
    columns_.clear();
    for (std::size_t c = 0; c < table_.columns.size(); ++c) {
        if (table_.columns[c].seen_by(report::kPages) &&
            table_.columns[c].kind != report::Kind::table) {
            columns_.push_back(c);
        }
    }
    endResetModel();
}

int AnswerModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int AnswerModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

QVariant AnswerModel::data(const QModelIndex& index, int role) const {
    const std::size_t column = columns_[static_cast<std::size_t>(index.column())];
    const report::Head& head = table_.columns[column];
    const report::Value& value = table_.rows[static_cast<std::size_t>(index.row())][column];
    switch (role) {
    case Qt::DisplayRole:
        return text(report::value_text(value, head.unit));
    case Qt::ToolTipRole:
        return tooltip_of(value, head.unit);
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter |
                                (is_right(head) ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

QVariant AnswerModel::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || section < 0 || section >= columnCount()) {
        return {};
    }
    const report::Head& head = table_.columns[columns_[static_cast<std::size_t>(section)]];
    switch (role) {
    case Qt::DisplayRole:
        return text(head.title);
    case Qt::ToolTipRole:
        return text(head.meaning);
    case Qt::TextAlignmentRole:
        return static_cast<int>(Qt::AlignVCenter |
                                (is_right(head) ? Qt::AlignRight : Qt::AlignLeft));
    default:
        return {};
    }
}

} // namespace eyeroof::gui
