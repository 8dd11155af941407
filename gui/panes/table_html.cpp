#include "gui/panes/table_html.hpp"

#include "gui/panes/answer_table.hpp"

#include <QTableView>

namespace eyeroof::gui {

namespace {

constexpr qsizetype kShort = 24; // characters that stay in one line

QString cell_html(const QModelIndex& index) {
    const QVariant full = index.data(kFullText);
    const QString text = full.isValid() ? full.toString() : index.data().toString();
    const bool right = index.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
    const bool is_short = text.size() <= kShort;
    return QString("<td%1>%2</td>")
        .arg(right      ? " class=\"n\""
             : is_short ? " class=\"s\""
                        : "",
             text.toHtmlEscaped());
}

} // namespace

QString table_html(const QTableView& table) {
    const QAbstractItemModel* model = table.model();
    if (model == nullptr || model->rowCount() == 0) {
        return {};
    }
    QString html = "<table><thead><tr>";
    for (int column = 0; column < model->columnCount(); ++column) {
        if (!table.isColumnHidden(column)) {
            html += "<th>" + model->headerData(column, Qt::Horizontal).toString().toHtmlEscaped() +
                    "</th>";
        }
    }
    html += "</tr></thead><tbody>\n";
    for (int row = 0; row < model->rowCount(); ++row) {
        html += "<tr>";
        for (int column = 0; column < model->columnCount(); ++column) {
            html += table.isColumnHidden(column) ? QString() : cell_html(model->index(row, column));
        }
        html += "</tr>\n";
    }
    return html + "</tbody></table>\n";
}

} // namespace eyeroof::gui
