// The tables of answers in the window, all from one model.
#pragma once

#include "gui/panes/sorted_model.hpp"
#include "report/answer/answer.hpp"

#include <QColor>
#include <QTableView>
#include <functional>
#include <map>
#include <optional>

namespace eyeroof::gui {

// The whole text of a cell that is shown short: what a copy, the report, and a drag have.
inline constexpr int kFullText = Qt::UserRole + 1;

// Rows and columns of a table as people see them; headers have the columns' meaning as a tooltip.
// Names in the first column are short where they are long.
class AnswerModel : public SortedModel {
    Q_OBJECT

  public:
    using SortedModel::SortedModel;
    void show(report::AnswerTable table);
    // Cells of a column as it is seen are bold, in the color of the row of the table.
    void set_verdict(int column, std::function<QColor(std::size_t row)> colour);
    const report::AnswerTable& table() const { return table_; }
    const report::Value& value(const QModelIndex& index) const;
    std::string name_of(std::size_t row) const; // of the table: what its first column has

    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  protected:
    bool is_less(std::size_t a, std::size_t b, int column) const override; // numbers by value

  private:
    void shorten();

    int verdict_ = -1; // the column
    std::function<QColor(std::size_t)> verdict_colour_;
    report::AnswerTable table_;
    std::vector<std::size_t> columns_; // of the table, that are seen
    std::map<std::string, QString> short_;
};

// A table with a model of its own: one row can be chosen, and columns are as wide as their cells.
class AnswerTableView : public QTableView {
    Q_OBJECT

  public:
    AnswerTableView(const QString& accessible_name, const QString& object_name,
                    QWidget* parent = nullptr);
    // Out of sight without rows, unless it stays.
    void show_table(report::AnswerTable table);
    void set_stays(bool stays) { stays_ = stays; }
    const AnswerModel& answer() const { return *model_; }
    AnswerModel& answer() { return *model_; }
    int row_count() const { return model_->rowCount(); }
    int needed_width() const; // at which no cell is cut

  signals:
    void row_chosen(std::size_t row); // of the table, whatever it is sorted by

  protected:
    void resizeEvent(QResizeEvent* event) override;

  private:
    AnswerModel* model_ = nullptr;
    bool stays_ = false;
};

} // namespace eyeroof::gui
