#include "gui/panes/answer_table.hpp"

#include "gui/panes/short_names.hpp"
#include "gui/panes/table_style.hpp"
#include "gui/views/qt_text.hpp"
#include "report/answer/write.hpp"

#include <QFont>
#include <QHeaderView>
#include <QScrollBar>
#include <algorithm>
#include <limits>

namespace eyeroof::gui {

namespace {

constexpr int kRowsHeight = 76; // the header and two rows

bool is_right(const report::Head& head) {
    return head.kind != report::Kind::text && head.kind != report::Kind::list;
}

QVariant side_of(const report::Head& head) {
    return static_cast<int>(Qt::AlignVCenter | (is_right(head) ? Qt::AlignRight : Qt::AlignLeft));
}

// A list in whole; the chain of a layer as it stands in text; below it what the column means.
QString tooltip_of(const report::Value& value, const report::Head& head) {
    const auto* list = std::get_if<std::vector<std::string>>(&value);
    const QString whole =
        list != nullptr ? texts(*list).join(", ") : text(report::value_text(value, head.unit));
    return head.meaning.empty() ? whole : whole + "\n" + text(head.meaning);
}

// What is not known stands before all numbers.
double number_of(const report::Value& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*whole);
    }
    const auto* number = std::get_if<double>(&value);
    return number == nullptr ? std::numeric_limits<double>::lowest() : *number;
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
    shorten();
    set_row_count(table_.rows.size());
    endResetModel();
}

void AnswerModel::shorten() {
    short_.clear();
    if (columns_.empty() || table_.columns[columns_[0]].kind != report::Kind::text) {
        return;
    }
    QStringList names;
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
        names << text(name_of(row));
    }
    const QStringList shorter = short_names(names);
    for (qsizetype i = 0; i < names.size(); ++i) {
        short_[names[i].toStdString()] = shorter[i];
    }
}

int AnswerModel::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(columns_.size());
}

const report::Value& AnswerModel::value(const QModelIndex& index) const {
    return table_.rows[row_of(index.row())][columns_[static_cast<std::size_t>(index.column())]];
}

std::string AnswerModel::name_of(std::size_t row) const {
    return report::value_text(table_.rows[row][columns_.front()], report::Unit::none);
}

QVariant AnswerModel::data(const QModelIndex& index, int role) const {
    const report::Head& head = table_.columns[columns_[static_cast<std::size_t>(index.column())]];
    switch (role) {
    case Qt::DisplayRole: {
        const std::string whole = report::value_text(value(index), head.unit);
        const auto known = index.column() == 0 ? short_.find(whole) : short_.end();
        return known == short_.end() ? text(whole) : known->second;
    }
    case kFullText:
        return text(report::value_text(value(index), head.unit));
    case Qt::ToolTipRole:
        return tooltip_of(value(index), head);
    case Qt::TextAlignmentRole:
        return side_of(head);
    case Qt::ForegroundRole:
        return index.column() == verdict_ ? verdict_colour_(row_of(index.row())) : QVariant();
    case Qt::FontRole: {
        QFont bold;
        bold.setBold(true);
        return index.column() == verdict_ ? bold : QVariant();
    }
    default:
        return {};
    }
}

void AnswerModel::set_verdict(int column, std::function<QColor(std::size_t)> colour) {
    verdict_ = column;
    verdict_colour_ = std::move(colour);
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
        return side_of(head);
    default:
        return {};
    }
}

bool AnswerModel::is_less(std::size_t a, std::size_t b, int column) const {
    const std::size_t at = columns_[static_cast<std::size_t>(column)];
    const report::Head& head = table_.columns[at];
    const report::Value& one = table_.rows[a][at];
    const report::Value& other = table_.rows[b][at];
    return is_right(head)
               ? number_of(one) < number_of(other)
               : report::value_text(one, head.unit) < report::value_text(other, head.unit);
}

AnswerTableView::AnswerTableView(const QString& accessible_name, const QString& object_name,
                                 QWidget* parent)
    : QTableView(parent), model_(new AnswerModel(this)) {
    setModel(model_);
    style_table(*this, accessible_name);
    setObjectName(object_name);
    setSelectionMode(QAbstractItemView::SingleSelection);
    setMinimumHeight(kRowsHeight);
    connect(selectionModel(), &QItemSelectionModel::selectionChanged, this,
            [this](const QItemSelection& chosen) {
                if (!chosen.isEmpty()) {
                    emit row_chosen(model_->row_of(chosen.indexes().front().row()));
                }
            });
}

void AnswerTableView::show_table(report::AnswerTable table) {
    setVisible(stays_ || !table.rows.empty());
    model_->show(std::move(table));
    fit_columns(*this);
}

int AnswerTableView::needed_width() const {
    const QHeaderView& header = *horizontalHeader();
    int width = verticalScrollBar()->sizeHint().width();
    for (int column = 0; column < header.count(); ++column) {
        width += std::max(sizeHintForColumn(column), header.sectionSizeHint(column));
    }
    return width;
}

void AnswerTableView::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    fit_last(*this);
}

} // namespace eyeroof::gui
