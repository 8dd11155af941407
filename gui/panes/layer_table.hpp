// The points of the plot as a table: one row each, sortable, copied as tab-separated text.
// Used by the main window's table pane.
// Knows no widget.
#pragma once

#include "study/draw/roofline_scene.hpp"

#include <QAbstractTableModel>
#include <vector>

namespace eyeroof::gui {

class LayerTable : public QAbstractTableModel {
    Q_OBJECT

  public:
    enum Column {
        name,
        machine,
        kind,
        time,
        share,
        faster,
        measured,
        unexplained,
        rate,
        of_roof,
        intensity,
        limiter,
        columns
    };

    explicit LayerTable(QObject* parent = nullptr) : QAbstractTableModel(parent) {}

    // Whether they are the same points as before, with other figures: a selection then stays. What
    // was measured of a predicted layer is taken from the reports.
    bool set_rows(const study::PlotInput& input, const study::RooflineScene& scene,
                  const std::vector<study::Report>& reports = {});
    std::string id_of(int row) const;
    std::size_t source_of(int row) const; // index into PlotInput::points

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    // DisplayRole for people, UserRole for sorting.
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

  private:
    struct Row {
        study::ScenePoint point;
        study::PlotPoint source;
        std::optional<study::LayerMeasurement> measured; // of a predicted point
        std::optional<double> faster; // than the first machine, of the same layer and kind
    };
    QVariant shown(const Row& row, int column) const;
    QVariant sorted(const Row& row, int column) const;

    std::vector<Row> rows_;
    QString first_machine_;
};

} // namespace eyeroof::gui
