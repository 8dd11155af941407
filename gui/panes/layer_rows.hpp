// What the table of layers shows, as values: a row for each layer of each machine, predicted and
// measured together, and one for each kernel of no layer, whether it has a place on the plot or
// not. Made from a plot by the layer table.
#pragma once

#include "report/draw/roofline_scene.hpp"

#include <QString>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::gui {

struct LayerRow {
    const report::PlotPoint* source = nullptr; // of the plot: the prediction where there is one
    QString name;                              // as short as the column wants it
    std::optional<std::string> twin;           // id of the measured point of the same layer
    double share = 0.0;                        // of the time of its machine and kind
    bool placed = false;                       // whether the plot shows it
    double intensity = 0.0, rate = 0.0, of_roof = 0.0;
    std::string roof; // that of_roof is of
    std::optional<double> measured_of_roof;
    std::optional<analysis::LayerMeasurement> measured;
    std::optional<double> faster; // than the first machine's, of the same layer and kind

    const std::string& id() const { return source->id; }
    // Seconds of all executions as the measurement counts them: with the gaps before its kernels.
    std::optional<double> measured_s() const;
};

// In the plot's order, so that rows keep their places while figures change. The plot outlives them.
std::vector<LayerRow> layer_rows(const report::PlotInput& input, const report::RooflineScene& scene,
                                 const std::vector<analysis::Report>& reports);

} // namespace eyeroof::gui
