#include "report/draw/roofline_hover.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

constexpr double kLeastDrop = 6.0; // pixels of a line to a roof that is worth drawing
constexpr double kBesideDrop = 5.0;

std::string headroom_text(const LevelCeiling& at, const PlotPoint& source) {
    std::string text = format_si(at.headroom_s, "s");
    if (source.count != 1.0) {
        text += fmt::format(" x {:g}", source.count);
    }
    return text + " to " + at.roof;
}

void add_drop(ClippedLayer& layer, const PlotArea& area, const ScenePoint& point,
              const LevelCeiling& at, const PlotPoint& source, ColourRole colour) {
    const Place from = area.place_of(point.x, point.y);
    const Place to = area.place_of(point.x, at.allowed);
    if (!(at.headroom_s > 0.0) || from.y - to.y < kLeastDrop) {
        return;
    }
    layer.lines.push_back({{from, to}, colour, 1.6, Dash::dashes});
    const double row = 1.3 * kSmallPx * static_cast<double>(layer.texts.size()); // below others
    const double middle = (from.y + to.y) / 2.0 + row;
    const Place text{from.x + kBesideDrop,
                     std::clamp(middle, area.box.top + kSmallPx, area.box.bottom() - kSmallPx)};
    layer.texts.push_back(
        {text, headroom_text(at, source), ColourRole::text, kSmallPx, 0.0, true, true});
}

} // namespace

std::vector<LevelCeiling> ceilings_of(const PlotInput& input, const PlotPoint& point,
                                      const std::set<std::string>* visible) {
    const analysis::PlotMachine* machine = find_machine(input, point.machine);
    std::vector<LevelCeiling> all;
    for (const LevelBytes& entry : point.bytes) {
        PlotPoint alone = point;
        alone.bytes = {entry};
        LevelCeiling& at = all.emplace_back();
        at.level = entry.level;
        at.bytes = entry.bytes;
        at.at_least = entry.at_least;
        at.intensity = alone.intensity();
        const auto limit = machine == nullptr ? std::nullopt : limit_of(*machine, alone, visible);
        if (limit && limit->flops_per_s > 0.0 && point.flops > 0.0) {
            at.allowed = limit->flops_per_s;
            at.roof = limit->by->name;
            at.headroom_s = point.time_s - point.flops / limit->flops_per_s;
        }
    }
    return all;
}

ClippedLayer hover_layer(const PlotInput& input, const RooflineScene& scene, std::size_t point) {
    ClippedLayer layer;
    layer.clip = scene.area.box;
    const ScenePoint& hovered = scene.points.at(point);
    const PlotPoint& source = input.points.at(hovered.source);
    std::set<std::string> visible;
    for (const SceneRoof& roof : scene.roofs) {
        visible.insert(roof.roof.id);
    }
    const auto ceilings = ceilings_of(input, source, &visible);
    const std::uint32_t ring =
        layer.add_look({Marker::circle, std::nullopt, ColourRole::selection, 2.0, 1.0, false});
    const ScenePoint* leftmost = &hovered;
    const ScenePoint* rightmost = &hovered;
    for (const ScenePoint& other : scene.points) {
        if (other.source != hovered.source) {
            continue;
        }
        leftmost = other.x < leftmost->x ? &other : leftmost;
        rightmost = other.x > rightmost->x ? &other : rightmost;
        layer.markers.push_back(
            {scene.area.place_of(other.x, other.y), other.radius * 1.15 + 2.0, ring});
        const auto at = std::ranges::find_if(ceilings, [&](const LevelCeiling& one) {
            return other.level.empty() || one.level == other.level; // "": the outermost
        });
        if (at != ceilings.end()) {
            add_drop(layer, scene.area, other, *at, source, scene.series[other.series].colour);
        }
    }
    if (leftmost != rightmost) {
        layer.lines.push_back({{scene.area.place_of(leftmost->x, leftmost->y),
                                scene.area.place_of(rightmost->x, rightmost->y)},
                               ColourRole::text,
                               1.6});
    }
    return layer;
}

} // namespace eyeroof::report
