#include "gui/panes/layer_rows.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace eyeroof::gui {

namespace {

// One layer on all machines of the plot; the rows of one name are distinguished by their order.
using Across = std::tuple<std::string, std::size_t, bool>; // name, nth, measured

Across across(const report::PlotPoint& point) {
    return {point.name, point.nth, point.measured};
}

// The first machine's times.
std::map<Across, double> baseline_of(const report::PlotInput& input) {
    std::map<Across, double> seconds;
    if (input.machines.size() > 1) {
        for (const report::PlotPoint& point : input.points) {
            if (point.machine == input.machines.front().id) {
                seconds.emplace(across(point), point.total_s());
            }
        }
    }
    return seconds;
}

std::optional<analysis::LayerMeasurement>
measured_of(const report::PlotPoint& point, const std::vector<analysis::Report>& reports) {
    for (const analysis::Report& report : reports) {
        if (point.layer && report.machine.id == point.machine &&
            *point.layer < report.layers.size()) {
            return report.layers[*point.layer].measured;
        }
    }
    return std::nullopt;
}

// A row for each point that is in view, in the plot's order, first without what belongs to other
// points.
std::vector<LayerRow> rows_of(const report::PlotInput& input, const report::RooflineScene& scene) {
    std::vector<const report::ScenePoint*> placed(input.points.size());
    std::vector<std::optional<double>> shares(input.points.size());
    for (const report::SceneRest& rest : scene.rest) {
        shares.at(rest.source) = rest.share;
    }
    for (const report::ScenePoint& point : scene.points) {
        if (placed.at(point.source) == nullptr) { // of several levels the outermost is the first
            placed[point.source] = &point;
            shares[point.source] = point.share;
        }
    }
    std::vector<LayerRow> rows;
    rows.reserve(scene.points.size() + scene.rest.size());
    for (std::size_t i = 0; i < input.points.size(); ++i) {
        if (!shares[i]) {
            continue;
        }
        LayerRow& row = rows.emplace_back();
        row.source = &input.points[i];
        row.share = *shares[i];
        if (placed[i] != nullptr) {
            row.placed = true;
            row.intensity = placed[i]->x;
            row.rate = placed[i]->y;
            row.of_roof = placed[i]->of_bound;
            row.roof = placed[i]->roof;
        }
    }
    return rows;
}

// What was measured of a predicted layer joins its row.
std::vector<LayerRow> with_twins(std::vector<LayerRow> rows) {
    const auto is_measured = [](const LayerRow& row) { return row.source->measured; };
    if (std::none_of(rows.begin(), rows.end(), is_measured)) {
        return rows;
    }
    std::map<std::pair<std::string, std::size_t>, LayerRow*> predicted; // by machine and layer
    for (LayerRow& row : rows) {
        if (!row.source->measured && row.source->layer) {
            predicted[{row.source->machine, *row.source->layer}] = &row;
        }
    }
    std::vector<bool> joined(rows.size(), false);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const LayerRow& row = rows[i];
        if (!row.source->measured || !row.source->layer) {
            continue;
        }
        if (const auto own = predicted.find({row.source->machine, *row.source->layer});
            own != predicted.end() && !own->second->twin) { // the compared run's comes first
            own->second->twin = row.id();
            own->second->measured_of_roof = row.placed ? std::optional(row.of_roof) : std::nullopt;
            joined[i] = true;
        }
    }
    std::vector<LayerRow> kept;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (!joined[i]) {
            kept.push_back(std::move(rows[i]));
        }
    }
    return kept;
}

} // namespace

std::optional<double> LayerRow::measured_s() const {
    if (measured) {
        return source->count * measured->kernel_s; // gaps are no kernel's
    }
    return source->measured ? std::optional(source->total_s()) : std::nullopt;
}

std::vector<LayerRow> layer_rows(const report::PlotInput& input, const report::RooflineScene& scene,
                                 const std::vector<analysis::Report>& reports) {
    auto rows = rows_of(input, scene);
    const auto baseline = baseline_of(input);
    const auto runs = report::compared_runs(input);
    for (LayerRow& row : rows) {
        const auto compared = runs.find(row.source->machine);
        if (compared == runs.end() || row.source->run.empty() ||
            row.source->run == compared->second) {
            row.measured = measured_of(*row.source, reports);
        }
        if (baseline.empty() || row.source->machine == input.machines.front().id) {
            continue;
        }
        const auto first = baseline.find(across(*row.source));
        if (first != baseline.end() && row.source->total_s() > 0.0) {
            row.faster = first->second / row.source->total_s();
        }
    }
    return with_twins(std::move(rows));
}

} // namespace eyeroof::gui
