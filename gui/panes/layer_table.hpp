// The layers and kernels of the plot as a table, sortable, copied as tab-separated text.
#pragma once

#include "gui/jobs/report_warnings.hpp"
#include "gui/panes/layer_rows.hpp"
#include "gui/panes/sorted_model.hpp"

#include <memory>
#include <vector>

namespace eyeroof::gui {

class LayerTable : public SortedModel {
    Q_OBJECT

  public:
    enum Column {
        name,
        machine,
        kind,
        runs, // executions in a step
        time,
        share,
        faster,
        measured,
        unexplained,
        rate,
        of_roof,
        measured_of_roof,
        intensity,
        limiter,
        columns
    };

    explicit LayerTable(QObject* parent = nullptr) : SortedModel(parent) {}

    // Whether they are the same rows as before, with other figures: a selection then stays. What
    // was measured of a predicted layer is taken from the reports.
    bool set_rows(const std::shared_ptr<const report::PlotInput>& plot,
                  const report::RooflineScene& scene,
                  const std::vector<analysis::Report>& reports = {});
    // Of all times; "" for each in its own: "us".
    void set_time_unit(const QString& unit);
    static QStringList time_units() { return {"ns", "us", "ms", "s"}; }
    // Whether any row runs more than once.
    bool repeats() const;
    // Why layers carry a mark, by machine and row of its report; shown with the next rows.
    void set_marks(LayerMarks marks) { marks_ = std::move(marks); }
    // Of the points of a row, as it is shown: the prediction's first.
    std::vector<std::string> ids_of(int row) const;

    int columnCount(const QModelIndex& parent = {}) const override;
    // DisplayRole for people, UserRole: the number of a column that has numbers.
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  protected:
    bool is_less(std::size_t a, std::size_t b, int column) const override; // numbers by value

  private:
    static void shorten(std::vector<LayerRow>& rows);
    QString shown(const LayerRow& row, int column) const;
    QVariant tip(const LayerRow& row, int column) const;

    QString mark_of(const LayerRow& row) const; // empty: none
    QString seconds(double value) const;

    std::shared_ptr<const report::PlotInput> plot_; // that the rows are of
    std::vector<LayerRow> rows_;
    LayerMarks marks_;
    QString first_machine_;
    QString time_unit_;
};

} // namespace eyeroof::gui
