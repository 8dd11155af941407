#include "gui/panes/layer_rows.hpp"

#include <map>
#include <tuple>

namespace eyeroof::gui {

namespace {

// One layer on all machines of the plot; the rows of one name are told apart by their order.
using Across = std::tuple<std::string, std::size_t, bool>; // name, nth, measured

Across across(const study::PlotPoint& point) {
    return {point.name, point.nth, point.measured};
}

// The first machine's times.
std::map<Across, double> baseline_of(const study::PlotInput& input) {
    std::map<Across, double> seconds;
    if (input.machines.size() > 1) {
        for (const study::PlotPoint& point : input.points) {
            if (point.machine == input.machines.front().id) {
                seconds.emplace(across(point), point.total_s());
            }
        }
    }
    return seconds;
}

std::optional<study::LayerMeasurement> measured_of(const study::PlotPoint& point,
                                                   const std::vector<study::Report>& reports) {
    for (const study::Report& report : reports) {
        if (point.layer && report.machine.id == point.machine &&
            *point.layer < report.layers.size()) {
            return report.layers[*point.layer].measured;
        }
    }
    return std::nullopt;
}

// Rows by the place of their sources in the plot, first without what belongs to other points.
std::map<std::size_t, LayerRow> rows_of(const study::PlotInput& input,
                                        const study::RooflineScene& scene) {
    std::map<std::size_t, LayerRow> rows;
    const auto add = [&](std::size_t source, double share) {
        LayerRow row;
        row.source = input.points.at(source);
        row.index = source;
        row.share = share;
        return rows.emplace(source, std::move(row));
    };
    for (const study::ScenePoint& point : scene.points) {
        const auto [row, fresh] = add(point.source, point.share);
        if (fresh) { // of several levels the outermost is the first
            row->second.placed = true;
            row->second.intensity = point.x;
            row->second.rate = point.y;
            row->second.of_roof = point.of_bound;
            row->second.roof = point.roof;
        }
    }
    for (const study::SceneRest& rest : scene.rest) {
        add(rest.source, rest.share);
    }
    return rows;
}

} // namespace

std::optional<double> LayerRow::measured_s() const {
    if (measured) {
        return source.count * measured->time_s;
    }
    return source.measured ? std::optional(source.total_s()) : std::nullopt;
}

std::vector<LayerRow> layer_rows(const study::PlotInput& input, const study::RooflineScene& scene,
                                 const std::vector<study::Report>& reports) {
    auto by_source = rows_of(input, scene);
    const auto baseline = baseline_of(input);
    std::map<std::pair<std::string, std::size_t>, LayerRow*> predicted; // by machine and layer
    for (auto& [index, row] : by_source) {
        row.measured = measured_of(row.source, reports);
        if (!row.source.measured && row.source.layer) {
            predicted[{row.source.machine, *row.source.layer}] = &row;
        }
        const auto first = baseline.find(across(row.source));
        if (first != baseline.end() && row.source.machine != input.machines.front().id &&
            row.source.total_s() > 0.0) {
            row.faster = first->second / row.source.total_s();
        }
    }
    std::vector<LayerRow> rows;
    for (auto& [index, row] : by_source) {
        const auto own = row.source.measured && row.source.layer
                             ? predicted.find({row.source.machine, *row.source.layer})
                             : predicted.end();
        if (own == predicted.end()) {
            continue;
        }
        own->second->twin = row.id();
        own->second->measured_of_roof = row.placed ? std::optional(row.of_roof) : std::nullopt;
        row.index = input.points.size(); // its layer's row has it
    }
    for (auto& [index, row] : by_source) {
        if (row.index < input.points.size()) {
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

} // namespace eyeroof::gui
