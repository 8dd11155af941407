#include "report/draw/roofline_scene.hpp"

#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "report/draw/roofline_build.hpp"
#include "report/draw/roofline_hover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

Place PlotArea::place_of(double x_value, double y_value) const {
    return {box.left + box.width * to_unit(x, x_value),
            box.bottom() - box.height * to_unit(y, y_value)};
}

Placer::Placer(const PlotArea& area)
    : left_(area.box.left), bottom_(area.box.bottom()),
      per_x_(area.box.width / std::log(area.x.max / area.x.min)),
      per_y_(area.box.height / std::log(area.y.max / area.y.min)), log_x_(std::log(area.x.min)),
      log_y_(std::log(area.y.min)) {}

Place Placer::operator()(double x_value, double y_value) const {
    return {left_ + per_x_ * (std::log(x_value) - log_x_),
            bottom_ - per_y_ * (std::log(y_value) - log_y_)};
}

double PlotArea::x_at(double pixel) const {
    return from_unit(x, (pixel - box.left) / box.width);
}

double PlotArea::y_at(double pixel) const {
    return from_unit(y, (box.bottom() - pixel) / box.height);
}

std::vector<ActiveFilter> active_filters(const ViewState& view) {
    std::vector<ActiveFilter> filters;
    if (!view.filter.empty()) {
        filters.push_back({"filter", fmt::format("name matches /{}/", view.filter)});
    }
    if (view.top) {
        filters.push_back({"top", fmt::format("heaviest {}", *view.top)});
    }
    if (view.top_share) {
        filters.push_back(
            {"top_share", fmt::format("heaviest {:.0f} % of the time", 100.0 * *view.top_share)});
    }
    if (!view.predicted) {
        filters.push_back({"predicted", "without predictions"});
    }
    if (!view.measured) {
        filters.push_back({"measured", "without measurements"});
    }
    if (!view.only.empty()) {
        filters.push_back({"only", fmt::format("only {} chosen", view.only.size())});
    }
    if (!view.hidden.empty()) {
        filters.push_back({"hidden", fmt::format("{} hidden", view.hidden.size())});
    }
    for (const std::string& machine : view.hidden_machines) {
        filters.push_back({"machine " + machine, "without " + machine});
    }
    for (const std::string& series : view.hidden_series) {
        filters.push_back({"series " + series, "without " + series});
    }
    return filters;
}

void remove_filter(ViewState& view, const std::string& key) {
    const ViewState none;
    if (key == "filter") {
        view.filter = none.filter;
    } else if (key == "top") {
        view.top = none.top;
    } else if (key == "top_share") {
        view.top_share = none.top_share;
    } else if (key == "predicted") {
        view.predicted = none.predicted;
    } else if (key == "measured") {
        view.measured = none.measured;
    } else if (key == "only") {
        view.only.clear();
    } else if (key == "hidden") {
        view.hidden.clear();
    } else if (key.starts_with("machine ")) {
        view.hidden_machines.erase(key.substr(8));
    } else if (key.starts_with("series ")) {
        view.hidden_series.erase(key.substr(7));
    }
}

Result<RooflineScene> make_scene(const PlotInput& input, const ViewState& view,
                                 const Canvas& canvas) {
    auto scene = build_scene(input, view);
    if (scene) {
        lay_out(*scene, view, canvas);
    }
    return scene;
}

std::optional<std::size_t> legend_at(const RooflineScene& scene, Place place) {
    constexpr double half = 8.0; // pixels above and below the marker's middle
    for (const LegendEntry& entry : scene.legend) {
        const double right = entry.text.x + text_width(entry.name, kFontPx);
        if (place.x >= entry.marker.x - half && place.x <= right &&
            std::abs(place.y - entry.marker.y) <= half) {
            return entry.series;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> point_at(const RooflineScene& scene, Place place, double reach) {
    std::optional<std::size_t> nearest;
    double least = 0.0;
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const ScenePoint& point = scene.points[i];
        const Place at = scene.area.place_of(point.x, point.y);
        const double beyond = std::hypot(at.x - place.x, at.y - place.y) - point.radius;
        if (beyond <= reach && (!nearest || beyond <= least)) {
            nearest = i;
            least = beyond;
        }
    }
    return nearest;
}

std::vector<std::size_t> points_in(const RooflineScene& scene, const Box& box) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < scene.points.size(); ++i) {
        const Place at = scene.area.place_of(scene.points[i].x, scene.points[i].y);
        if (at.x >= box.left && at.x <= box.right() && at.y >= box.top && at.y <= box.bottom()) {
            found.push_back(i);
        }
    }
    return found;
}

std::optional<std::size_t> roof_at(const RooflineScene& scene, Place place, double reach) {
    std::optional<std::size_t> nearest;
    double least = reach;
    const double x = scene.area.x_at(place.x);
    for (std::size_t i = 0; i < scene.roofs.size(); ++i) {
        const SceneRoof& roof = scene.roofs[i];
        if (x < roof.from_x || x > roof.to_x) {
            continue;
        }
        const double dy = std::abs(scene.area.place_of(x, roof.y_at(x)).y - place.y);
        const double distance =
            roof.roof.kind == analysis::RoofKind::memory ? dy * std::sqrt(0.5) : dy;
        if (distance <= least) {
            nearest = i;
            least = distance;
        }
    }
    return nearest;
}

namespace {

// "2.1 MB, 61.2 FLOP/byte, 12.3 us above DRAM": bytes, intensity, and time to the roof there.
std::string level_text(const LevelCeiling& at, std::string_view operation) {
    std::string text = (at.at_least ? "at least " : "") + format_si(at.bytes, "B");
    if (at.intensity > 0.0) {
        text += fmt::format(", {:.4g} {}/byte", at.intensity, operation);
    }
    if (at.allowed > 0.0) {
        text += fmt::format(", {} {} than at {}", format_si(std::abs(at.headroom_s), "s"),
                            at.headroom_s < 0.0 ? "less" : "more", at.roof);
    }
    return text;
}

} // namespace

std::vector<CardRow> card_of(const PlotInput& input, const ScenePoint& point) {
    const PlotPoint& source = input.points.at(point.source);
    const analysis::PlotMachine* machine = find_machine(input, source.machine);
    const std::string_view rate = operation_rate_unit(source.precision);
    const std::string_view operation = rate.substr(0, rate.find('/'));
    std::vector<CardRow> rows;
    rows.push_back({"name", source.name});
    rows.push_back({"machine", machine == nullptr ? source.machine : machine->name});
    if (source.has_place()) {
        rows.push_back({source.measured ? "measured" : "predicted", format_si(point.y, rate)});
        rows.push_back({"intensity", fmt::format("{:.4g} {}/byte{}{}", point.x, operation,
                                                 point.level.empty() ? "" : " of ", point.level)});
    } else {
        rows.push_back({source.measured ? "measured" : "predicted",
                        "not on the plot: its operations or bytes are unknown or zero"});
    }
    if (!point.roof.empty()) {
        rows.push_back(
            {"roof there",
             fmt::format("{} ({})", format_si(point.roof_flops_per_s, rate), point.roof)});
        rows.push_back({"of the roof", fmt::format("{:.1f} %", 100.0 * point.of_bound)});
    }
    for (const LevelCeiling& at : ceilings_of(input, source)) {
        rows.push_back({at.level, level_text(at, operation)});
    }
    if (!source.limiter.empty()) {
        rows.push_back(
            {"bound by", source.limiter_step == 0
                             ? source.limiter
                             : fmt::format("step {}: {}", source.limiter_step, source.limiter)});
    }
    rows.push_back(
        {"time", fmt::format("{} x {:g} = {:.1f} % of the step", format_si(source.time_s, "s"),
                             source.count, 100.0 * point.share)});
    if (source.low_s && source.high_s) {
        rows.push_back({"interval", fmt::format("{} … {}", format_si(*source.low_s, "s"),
                                                format_si(*source.high_s, "s"))});
    }
    if (!source.precision.empty()) {
        rows.push_back({"precision", source.precision});
    }
    if (!source.source.empty()) {
        rows.push_back({"source", source.source});
    }
    if (point.above_roof) {
        rows.push_back({"above the roof", "the measurement or the roof is wrong"});
    } else if (point.of_bound > 1.0 + kAboveRoofTolerance) {
        rows.push_back({"above the roof", "an inner memory is expected to hold its bytes"});
    }
    return rows;
}

std::vector<CardRow> card_of(const PlotInput& input, const SceneRoof& roof) {
    const analysis::PlotMachine* machine = find_machine(input, roof.roof.machine);
    const bool memory = roof.roof.kind == analysis::RoofKind::memory;
    std::vector<CardRow> rows;
    rows.push_back({"roof", roof.roof.name});
    rows.push_back({"machine", machine == nullptr ? roof.roof.machine : machine->name});
    rows.push_back(
        {memory ? "bandwidth" : "arithmetic",
         format_si(roof.roof.value, memory ? "B/s" : operation_rate_unit(roof.roof.name), 4)});
    rows.push_back({"known by", roof.roof.measured ? "measurement" : "description"});
    if (!roof.roof.source.empty()) {
        rows.push_back({"source", roof.roof.source});
    }
    return rows;
}

} // namespace eyeroof::report
