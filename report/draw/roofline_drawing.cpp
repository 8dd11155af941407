#include "report/draw/roofline_drawing.hpp"

#include "base/units.hpp"
#include "report/draw/fitted_text.hpp"
#include "report/draw/roofline_heading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr std::size_t kMostTips = 3000; // beyond, hover texts would be most of a file
constexpr std::size_t kManyTips = 1000; // … that are more than a name
constexpr std::size_t kMany = 300;      // points, whose edges are thin
constexpr double kLeft = 16.0;
constexpr double kHeadingLine = kFontPx * 1.35;
constexpr double kHollowEdge = 1.8;

// Lines that end right above the axes' own title; the lowest is the last of the notes.
void add_notes(Drawing& d, const RooflineScene& scene) {
    double below = scene.area.box.top - 8.0 - kHeadingLine;
    const auto add = [&](const std::vector<std::string>& texts, const char* mark, ColourRole role) {
        for (auto text = texts.rbegin(); text != texts.rend(); ++text) {
            const auto lines = wrapped_to_width(mark + *text, kFontPx, heading_width(scene.canvas));
            for (auto line = lines.rbegin(); line != lines.rend(); ++line) {
                d.texts.push_back({{kLeft, below}, *line, role});
                below -= kHeadingLine;
            }
        }
    };
    add(scene.warnings, kWarningMark, ColourRole::warning);
    if (!is_low(scene.canvas)) {
        add(scene.notes, "", ColourRole::faint);
    }
}

void add_heading(Drawing& d, const RooflineScene& scene) {
    const double width = heading_width(scene.canvas);
    double y = kLeft;
    if (is_low(scene.canvas)) {
        d.texts.push_back(
            {{kLeft, y + kFontPx}, scene.low_title, ColourRole::text, kFontPx, 0.0, true});
        add_notes(d, scene);
        d.texts.push_back({{kLeft, scene.area.box.top - 8.0}, scene.y_title, ColourRole::faint});
        return;
    }
    if (!scene.title.empty()) {
        y += kTitlePx * 0.9;
        d.texts.push_back({{kLeft, y},
                           fitted(scene.title, kTitlePx * kBoldWider, width),
                           ColourRole::text,
                           kTitlePx,
                           0.0,
                           true});
        y += kTitlePx * 0.45;
    }
    d.texts.push_back(
        {{kLeft, y + kFontPx * 0.9}, fitted(scene.subtitle, kFontPx, width), ColourRole::faint});
    add_notes(d, scene);
    d.texts.push_back({{kLeft, scene.area.box.top - 8.0}, scene.y_title, ColourRole::faint});
}

MarkerLook look_of(const SceneSeries& series, double edge) {
    MarkerLook look;
    look.shape = series.marker;
    look.fill = series.hollow ? ColourRole::plot : series.colour;
    look.edge = series.hollow ? series.colour : ColourRole::plot;
    look.edge_px = series.hollow ? kHollowEdge : edge;
    return look;
}

void add_legend(Drawing& d, const RooflineScene& scene) {
    for (const LegendEntry& entry : scene.legend) {
        const SceneSeries& series = scene.series[entry.series];
        MarkerLook look = look_of(series, 0.8);
        if (series.hidden) {
            look.fill = ColourRole::plot;
            look.edge = ColourRole::faint;
            look.edge_px = kHollowEdge;
        }
        d.markers.push_back({entry.marker, 5.0, d.add_look(look)});
        d.texts.push_back(
            {entry.text, entry.name, series.hidden ? ColourRole::faint : ColourRole::text});
    }
}

void add_grid(Drawing& d, const RooflineScene& scene) {
    const PlotArea& area = scene.area;
    const Box& box = area.box;
    for (const bool major : {false, true}) { // numbered lines lie above the others
        const ColourRole role = major ? ColourRole::grid : ColourRole::grid_minor;
        for (const Tick& tick : scene.x_ticks) {
            const double x = area.place_of(tick.value, area.y.min).x;
            if (tick.major == major) {
                d.lines.push_back({{{x, box.top}, {x, box.bottom()}}, role});
            }
        }
        for (const Tick& tick : scene.y_ticks) {
            const double y = area.place_of(area.x.min, tick.value).y;
            if (tick.major == major) {
                d.lines.push_back({{{box.left, y}, {box.right(), y}}, role});
            }
        }
    }
    d.lines.push_back({{{box.left, box.top},
                        {box.right(), box.top},
                        {box.right(), box.bottom()},
                        {box.left, box.bottom()},
                        {box.left, box.top}},
                       ColourRole::frame});
}

void add_axes(Drawing& d, const RooflineScene& scene) {
    const PlotArea& area = scene.area;
    const Box& box = area.box;
    d.boxes.push_back({box, ColourRole::plot});
    add_grid(d, scene);
    for (const Tick& tick : scene.x_ticks) {
        const double x = area.place_of(tick.value, area.y.min).x;
        d.texts.push_back({{x, box.bottom() + 16.0}, tick.label, ColourRole::faint, kSmallPx, 0.5});
    }
    for (const Tick& tick : scene.y_ticks) {
        const double y = area.place_of(area.x.min, tick.value).y;
        d.texts.push_back(
            {{box.left - 6.0, y + 4.0}, tick.label, ColourRole::faint, kSmallPx, 1.0});
    }
    const std::string title = fitted(scene.x_title, kFontPx, scene.canvas.width);
    const double half = text_width(title, kFontPx) / 2.0; // below the middle where there is room
    const double middle = std::min(box.left + box.width / 2.0, scene.canvas.width - half);
    d.texts.push_back(
        {{std::max(middle, half), box.bottom() + 38.0}, title, ColourRole::faint, kFontPx, 0.5});
}

// A value far outside would be a coordinate that viewers cannot hold.
Place near_box(Place place, const Box& box) {
    const double reach = 4.0 * (box.width + box.height);
    return {std::clamp(place.x, box.left - reach, box.right() + reach),
            std::clamp(place.y, box.top - reach, box.bottom() + reach)};
}

// A tint behind everything, named at its foot where there is space.
void add_zones(DrawnLayer& layer, const RooflineScene& scene) {
    const PlotArea& area = scene.area;
    for (const SceneZone& zone : scene.zones) {
        const double from = std::clamp(zone.from_x, area.x.min, area.x.max);
        const double to = std::clamp(zone.to_x, area.x.min, area.x.max);
        const double left = area.place_of(from, area.y.min).x;
        const double width = area.place_of(to, area.y.min).x - left;
        if (width <= 0.0) {
            continue;
        }
        layer.boxes.push_back(
            {{left, area.box.top, width, area.box.height}, zone.colour, 0.08, false, zone.name});
        if (text_width(zone.name, kSmallPx) + 8.0 < width) {
            layer.texts.push_back({{left + 0.5 * width, area.box.bottom() - 6.0},
                                   zone.name,
                                   ColourRole::faint,
                                   kSmallPx,
                                   0.5,
                                   false,
                                   true});
        }
    }
}

// The two strokes at the end of an arrow; none of one that is shorter than they are.
void add_head(DrawnLayer& layer, Place from, Place to, ColourRole role, double width) {
    constexpr double head = 6.0; // pixels
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < head) {
        return;
    }
    const Place back{(to.x - from.x) / length * head, (to.y - from.y) / length * head};
    layer.lines.push_back({{{to.x - back.x - back.y / 2.0, to.y - back.y + back.x / 2.0},
                            to,
                            {to.x - back.x + back.y / 2.0, to.y - back.y - back.x / 2.0}},
                           role,
                           width});
}

// Arrows to the measurement, and to the next machine: up to the edge of the marker there.
void add_links(DrawnLayer& layer, const RooflineScene& scene) {
    const Placer place(scene.area);
    for (const SceneLink& link : scene.links) {
        const ScenePoint& a = scene.points[link.from];
        const ScenePoint& b = scene.points[link.to];
        const Place from = near_box(place(a.x, a.y), scene.area.box);
        const Place middle = near_box(place(b.x, b.y), scene.area.box);
        layer.lines.push_back({{from, middle}, ColourRole::faint, 1.0, Dash::dots});
        const double length = std::hypot(middle.x - from.x, middle.y - from.y);
        const double share = length > b.radius ? 1.0 - b.radius / length : 0.0;
        add_head(layer, from,
                 {from.x + share * (middle.x - from.x), from.y + share * (middle.y - from.y)},
                 ColourRole::faint, 1.4);
    }
}

void add_roofs(DrawnLayer& layer, const RooflineScene& scene) {
    const PlotArea& area = scene.area;
    for (const SceneRoof& roof : scene.roofs) {
        // Both ends within the axis; a memory roof keeps its slope since x alone is limited.
        const double from = std::clamp(roof.from_x, area.x.min, area.x.max);
        const double to = std::clamp(roof.to_x, area.x.min, area.x.max);
        if (from < to) {
            layer.lines.push_back(
                {{area.place_of(from, roof.y_at(from)), area.place_of(to, roof.y_at(to))},
                 roof.colour,
                 roof.roof.measured ? 2.6 : 1.8,
                 roof.dashed ? Dash::long_dashes : Dash::whole});
        }
    }
    for (const Ridge& ridge : scene.ridges) {
        const Place at = near_box(area.place_of(ridge.x, ridge.y), area.box);
        const std::uint32_t look =
            layer.add_look({Marker::circle, ColourRole::plot, ridge.colour, 1.6, 1.0, false});
        layer.markers.push_back({at, 3.5, look});
    }
}

bool in_reach(Place at, const Box& box) {
    constexpr double edge = 16.0; // pixels
    return at.x > box.left - edge && at.x < box.right() + edge && at.y > box.top - edge &&
           at.y < box.bottom() + edge;
}

// A look for each series, in their order; its first index.
std::uint32_t add_series(DrawnLayer& layer, const RooflineScene& scene) {
    const auto first = static_cast<std::uint32_t>(layer.looks.size());
    for (const SceneSeries& series : scene.series) {
        MarkerLook look = look_of(series, scene.points.size() > kMany ? 0.4 : 1.0);
        look.opacity = scene.point_opacity;
        look.counts = true;
        layer.add_look(look);
    }
    return first;
}

// The text for a pointer over the point, where there is space for more than names.
std::string tip_of(const ScenePoint& point) {
    std::string tip =
        fmt::format("{}: {} at {:.4g} FLOP/B", point.name, format_si(point.y, "FLOP/s"), point.x);
    if (point.of_bound > 0.0) {
        tip += fmt::format(", {:.1f} % of {}", 100.0 * point.of_bound, point.roof);
    }
    return tip + fmt::format(", {:.1f} % of the step", 100.0 * point.share);
}

void add_points(DrawnLayer& layer, const RooflineScene& scene) {
    const std::uint32_t first = add_series(layer, scene);
    const auto ring = [&](ColourRole role) {
        return layer.add_look({Marker::circle, std::nullopt, role, 2.0, 1.0, false});
    };
    const std::uint32_t above = ring(ColourRole::warning);
    const std::uint32_t selected = ring(ColourRole::selection);
    const bool tips = scene.points.size() <= kMostTips;
    const Placer place(scene.area);
    layer.markers.reserve(layer.markers.size() + scene.points.size());
    for (const ScenePoint& point : scene.points) {
        DrawnMarker marker{place(point.x, point.y), point.radius,
                           first + static_cast<std::uint32_t>(point.series)};
        if (!in_reach(marker.at, scene.area.box)) {
            continue;
        }
        if (tips) {
            marker.tip = static_cast<std::uint32_t>(layer.tips.size());
            layer.tips.push_back(scene.points.size() <= kManyTips ? tip_of(point) : point.name);
        }
        layer.markers.push_back(marker);
        if (point.above_roof || point.selected) {
            layer.markers.push_back(
                {marker.at, point.radius * 1.3 + 3.0, point.above_roof ? above : selected});
        }
    }
}

void add_labels(DrawnLayer& layer, const RooflineScene& scene) {
    for (const SceneLabel& label : scene.labels) {
        const double px = label.kind == LabelKind::roof ? kFontPx : kSmallPx;
        layer.texts.push_back(
            {label.start, label.text, label.colour, px, 0.0, false, true, label.degrees});
    }
}

} // namespace

bool is_drawn(const RooflineScene& scene, const ScenePoint& point) {
    return in_reach(Placer(scene.area)(point.x, point.y), scene.area.box);
}

Drawing drawn(const RooflineScene& scene) {
    Drawing d;
    d.canvas = scene.canvas;
    d.title = scene.title.empty() ? "Roofline" : scene.title;
    d.description = scene.subtitle;
    add_heading(d, scene);
    add_legend(d, scene);
    add_axes(d, scene);
    ClippedLayer inside;
    inside.clip = scene.area.box;
    add_zones(inside, scene);
    add_links(inside, scene);
    add_roofs(inside, scene);
    add_points(inside, scene);
    add_labels(inside, scene);
    d.layers.push_back(std::move(inside));
    return d;
}

std::vector<BeforeArrow> before_arrows(const RooflineScene& scene,
                                       const std::map<std::string, Place>& before) {
    constexpr double least = 3.0; // pixels
    std::vector<BeforeArrow> arrows;
    const Placer place(scene.area);
    for (const ScenePoint& point : scene.points) {
        const auto was = before.find(point.id);
        if (was == before.end() || !(was->second.x > 0.0) || !(was->second.y > 0.0)) {
            continue;
        }
        const Place from = place(was->second.x, was->second.y);
        const Place to = place(point.x, point.y);
        if (std::hypot(to.x - from.x, to.y - from.y) >= least) {
            arrows.push_back({from, to});
        }
    }
    return arrows;
}

Drawing with_arrows(Drawing drawing, const std::vector<BeforeArrow>& arrows) {
    if (arrows.empty() || drawing.layers.empty()) {
        return drawing;
    }
    constexpr double width = 1.4;
    ClippedLayer above;
    above.clip = drawing.layers.front().clip;
    for (const auto& [from, to] : arrows) {
        above.lines.push_back({{near_box(from, above.clip), to}, ColourRole::text, width});
        add_head(above, from, to, ColourRole::text, width);
    }
    drawing.layers.push_back(std::move(above));
    return drawing;
}

} // namespace eyeroof::report
