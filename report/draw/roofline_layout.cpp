#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "report/draw/roofline_heading.hpp"
#include "report/draw/roofline_scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace eyeroof::report {

namespace {

constexpr double kMargin = 16.0;
constexpr double kLineSpacing = 1.35; // line height over font size
constexpr double kLeftOfPlot = 58.0;  // room for tick numbers
constexpr double kBelowPlot = 46.0;   // tick numbers and the axis title
constexpr double kLegendMarker = 16.0;
constexpr std::size_t kMostLegend = 12;
constexpr std::size_t kMostPointLabels = 40;
constexpr std::size_t kLabelAttempts = 120;
constexpr std::size_t kPointsAsObstacles = 400;
constexpr std::size_t kLabelCharacters = 26;

struct Segment {
    Place from, to;
};

// Liang and Barsky's clipping of a segment to a box, with the axes scaled by the caller.
std::optional<Segment> clipped(Segment s, const Box& box) {
    const double dx = s.to.x - s.from.x;
    const double dy = s.to.y - s.from.y;
    double enter = 0.0;
    double leave = 1.0;
    const auto edge = [&](double p, double q) {
        if (p == 0.0) {
            return q >= 0.0;
        }
        const double t = q / p;
        (p < 0.0 ? enter : leave) = p < 0.0 ? std::max(enter, t) : std::min(leave, t);
        return enter <= leave;
    };
    const bool visible = edge(-dx, s.from.x - box.left) && edge(dx, box.right() - s.from.x) &&
                         edge(-dy, s.from.y - box.top) && edge(dy, box.bottom() - s.from.y);
    if (!visible) {
        return std::nullopt;
    }
    return Segment{{s.from.x + enter * dx, s.from.y + enter * dy},
                   {s.from.x + leave * dx, s.from.y + leave * dy}};
}

Segment segment_of(const SceneRoof& roof, const PlotArea& area) {
    return {area.place_of(roof.from_x, roof.y_at(roof.from_x)),
            area.place_of(roof.to_x, roof.y_at(roof.to_x))};
}

// Does a segment run through turned text? In the text's own frame the text is a plain box.
bool crosses(const Segment& s, Place start, double width, double height, double degrees) {
    const double angle = -degrees * std::numbers::pi / 180.0;
    const auto local = [&](Place p) {
        const double dx = p.x - start.x;
        const double dy = p.y - start.y;
        return Place{dx * std::cos(angle) - dy * std::sin(angle),
                     dx * std::sin(angle) + dy * std::cos(angle)};
    };
    const Box text{-2.0, -height, width + 4.0, height + 2.0};
    return clipped({local(s.from), local(s.to)}, text).has_value();
}

class Labels {
  public:
    Labels(RooflineScene& scene, const ViewState& view)
        : scene_(scene), view_(view), taken_(scene.area.box), points_(scene.area.box) {
        for (const SceneRoof& roof : scene_.roofs) {
            lines_.push_back(clipped(segment_of(roof, scene_.area), scene_.area.box));
        }
        if (scene_.points.size() <= kPointsAsObstacles) {
            for (const ScenePoint& point : scene_.points) {
                points_.take(marker_box(point));
            }
        }
    }

    void place_all() {
        for (std::size_t i = 0; i < scene_.roofs.size(); ++i) {
            place_roof(i);
        }
        for (const auto& line : lines_) {
            if (line) {
                taken_.take_line(line->from, line->to, 3.0);
            }
        }
        place_ridge();
        if (view_.labels) {
            place_points();
        }
    }

  private:
    Box marker_box(const ScenePoint& point) const {
        const Place at = scene_.area.place_of(point.x, point.y);
        const double r = point.radius + 1.0;
        return {at.x - r, at.y - r, 2.0 * r, 2.0 * r};
    }

    // The whole text, and shorter ones for lines that are too short for it.
    std::vector<std::string> roof_texts(const analysis::Roof& roof) const {
        const bool memory = roof.kind == analysis::RoofKind::memory;
        const std::string_view unit = memory ? "B/s" : operation_rate_unit(roof.name);
        std::string text = fmt::format("{} {}{}", roof.name, format_si(roof.value, unit),
                                       roof.measured ? " measured" : "");
        const bool several =
            std::any_of(scene_.roofs.begin(), scene_.roofs.end(),
                        [&](const SceneRoof& other) { return other.roof.machine != roof.machine; });
        const std::string value = text.substr(roof.name.size() + 1);
        return several ? std::vector{fmt::format("{}: {}", roof.machine, text), text, value}
                       : std::vector{text, value};
    }

    // A shorter text rather than one over points, that rather than none.
    void place_roof(std::size_t index) {
        const auto texts = roof_texts(scene_.roofs[index].roof);
        for (const bool over_points : {false, true}) {
            for (const std::string& text : texts) {
                if (lines_[index] && place_roof_text(index, text, over_points)) {
                    return;
                }
            }
        }
    }

    // Along the line: memory roofs from the lower end upwards, compute roofs from the right end
    // leftwards; above the line first, then below.
    bool place_roof_text(std::size_t index, const std::string& text, bool over_points) {
        const Segment line = *lines_[index];
        const SceneRoof& roof = scene_.roofs[index];
        const double length = std::hypot(line.to.x - line.from.x, line.to.y - line.from.y);
        SceneLabel label{LabelKind::roof, roof.roof.id, text, {}, 0.0, 0.0, roof.colour};
        label.width = text_width(label.text, kFontPx);
        label.degrees =
            std::atan2(line.to.y - line.from.y, line.to.x - line.from.x) * 180.0 / std::numbers::pi;
        const bool memory = roof.roof.kind == analysis::RoofKind::memory;
        for (const double offset : {-5.0, kFontPx + 3.0}) {
            for (double along = 4.0; along + label.width + 4.0 <= length; along += 8.0) {
                const double from_start = memory ? along : length - along - label.width;
                if (try_roof(label, index, line, from_start, offset, over_points)) {
                    return true;
                }
            }
        }
        return false;
    }

    bool try_roof(SceneLabel& label, std::size_t index, const Segment& line, double along,
                  double offset, bool over_points) {
        const double angle = label.degrees * std::numbers::pi / 180.0;
        label.start = {line.from.x + along * std::cos(angle) - offset * std::sin(angle),
                       line.from.y + along * std::sin(angle) + offset * std::cos(angle)};
        const auto boxes = turned_boxes(label.start, label.width, kFontPx * 1.1, label.degrees);
        if (!taken_.is_free(boxes) || (!over_points && !points_.is_free(boxes))) {
            return false;
        }
        for (std::size_t other = 0; other < lines_.size(); ++other) {
            if (other != index && lines_[other] &&
                crosses(*lines_[other], label.start, label.width, kFontPx, label.degrees)) {
                return false;
            }
        }
        taken_.take(boxes);
        scene_.labels.push_back(label);
        return true;
    }

    bool try_flat(SceneLabel& label, Place start, double font_px, bool over_points) {
        const Box box{start.x - 2.0, start.y - font_px, label.width + 4.0, font_px * 1.25};
        if (!taken_.is_free(box) || (!over_points && !points_.is_free(box))) {
            return false;
        }
        label.start = start;
        taken_.take(box);
        scene_.labels.push_back(label);
        return true;
    }

    // One machine's main ridge says from which intensity on arithmetic is the limit.
    void place_ridge() {
        if (scene_.ridges.size() != 1) {
            return;
        }
        const Ridge& ridge = scene_.ridges.front();
        const Place at = scene_.area.place_of(ridge.x, ridge.y);
        SceneLabel label{LabelKind::ridge,
                         ridge.compute,
                         fmt::format("ridge {:.3g} FLOP/byte", ridge.x),
                         {},
                         0.0,
                         0.0,
                         ColourRole::faint};
        label.width = text_width(label.text, kSmallPx);
        const bool right = try_flat(label, {at.x + 8.0, at.y + kSmallPx + 6.0}, kSmallPx, false);
        if (!right) {
            try_flat(label, {at.x + 8.0, at.y + 2.5 * kSmallPx + 8.0}, kSmallPx, false);
        }
    }

    bool place_point(const ScenePoint& point) {
        const Place at = scene_.area.place_of(point.x, point.y);
        SceneLabel label{
            LabelKind::point, point.id, shortened(point.name, kLabelCharacters), {}, 0.0, 0.0,
            ColourRole::text};
        label.width = text_width(label.text, kSmallPx);
        const double gap = point.radius + 4.0;
        const double drop = kSmallPx * 0.36; // centres the line on the marker
        const double w = label.width;
        const Place candidates[] = {
            {at.x + gap, at.y + drop},
            {at.x - gap - w, at.y + drop},
            {at.x - w / 2.0, at.y - gap - 1.0},
            {at.x - w / 2.0, at.y + gap + kSmallPx},
            {at.x + gap * 0.75, at.y - gap * 0.75},
            {at.x + gap * 0.75, at.y + gap * 0.75 + kSmallPx * 0.8},
            {at.x - gap * 0.75 - w, at.y - gap * 0.75},
            {at.x - gap * 0.75 - w, at.y + gap * 0.75 + kSmallPx * 0.8},
        };
        const bool dense = scene_.points.size() > kPointsAsObstacles;
        return std::any_of(std::begin(candidates), std::end(candidates),
                           [&](Place start) { return try_flat(label, start, kSmallPx, dense); });
    }

    // Selected points first, then by share of time: points stand with the heaviest last. Of points
    // of one name and colour (a prediction and its measurement) one label is enough.
    void place_points() {
        std::size_t placed = 0;
        std::size_t tried = 0;
        const auto attempt = [&](bool selected) {
            for (auto point = scene_.points.rbegin(); point != scene_.points.rend(); ++point) {
                if (placed >= kMostPointLabels || tried >= kLabelAttempts) {
                    return;
                }
                if (point->selected != selected || !in_sight(*point)) {
                    continue;
                }
                ++tried;
                const auto named =
                    std::pair(scene_.series[point->series].colour, point->level + point->name);
                if (!named_.contains(named) && place_point(*point)) {
                    named_.insert(named);
                    ++placed;
                }
            }
        };
        attempt(true);
        attempt(false);
    }

    bool in_sight(const ScenePoint& point) const {
        const PlotArea& area = scene_.area;
        return point.x >= area.x.min && point.x <= area.x.max && point.y >= area.y.min &&
               point.y <= area.y.max;
    }

    RooflineScene& scene_;
    const ViewState& view_;
    Occupancy taken_;
    Occupancy points_;
    std::set<std::pair<ColourRole, std::string>> named_;
    std::vector<std::optional<Segment>> lines_;
};

// Rows of series names below the subtitle, the first from `left` on; returns where the next thing
// may start.
double place_legend(RooflineScene& scene, double top, double left) {
    scene.legend.clear();
    if (scene.series.size() < 2 && (scene.series.empty() || scene.series.front().name.empty())) {
        return top;
    }
    double x = left;
    double y = top + kFontPx;
    for (std::size_t i = 0; i < std::min(scene.series.size(), kMostLegend); ++i) {
        const std::string name =
            fmt::format("{} ({})", shortened(scene.series[i].name, 48),
                        scene.series[i].hidden ? "hidden" : std::to_string(scene.series[i].count));
        const double width = kLegendMarker + text_width(name, kFontPx) + 14.0;
        if (x > kMargin && x + width > scene.canvas.width - kMargin) {
            x = kMargin;
            y += kFontPx * 1.6;
        }
        scene.legend.push_back({i, {x + 6.0, y - kFontPx * 0.36}, {x + kLegendMarker, y}, name});
        x += width;
    }
    return y + kFontPx * 0.8;
}

// Title and series in one row; where the series need more, they take the title's place.
double place_low_heading(RooflineScene& scene, double top) {
    scene.low_title = low_title(scene.title, scene.canvas);
    const double taken = text_width(scene.low_title, kFontPx) * kBoldWider;
    const double below = place_legend(scene, top, kMargin + taken + 2.0 * kFontPx);
    const bool several = !scene.legend.empty() && scene.legend.back().text.y > top + kFontPx;
    if (!several) {
        return below;
    }
    scene.low_title.clear();
    return place_legend(scene, top, kMargin);
}

} // namespace

void lay_out(RooflineScene& scene, const ViewState& view, const Canvas& canvas) {
    scene.canvas = {std::max(canvas.width, 240.0), std::max(canvas.height, 180.0)};
    scene.labels.clear();
    const bool low = is_low(scene.canvas);
    double top = kMargin;
    if (low) {
        top = std::max(top + kFontPx * kLineSpacing, place_low_heading(scene, top));
    } else {
        top += scene.title.empty() ? 0.0 : kTitlePx * kLineSpacing;
        top = place_legend(scene, top + kFontPx * kLineSpacing, kMargin);
    }
    const std::size_t notes = low ? 0 : heading_lines(scene.notes, "", scene.canvas);
    top += kFontPx * kLineSpacing *
           (1.0 + static_cast<double>(heading_lines(scene.warnings, kWarningMark, scene.canvas) +
                                      notes)); // and the y title
    scene.area.box = {kMargin + kLeftOfPlot, top + 6.0,
                      std::max(60.0, scene.canvas.width - 2.0 * kMargin - kLeftOfPlot),
                      std::max(60.0, scene.canvas.height - top - kMargin - kBelowPlot)};
    scene.area.x = legal(view.x.value_or(scene.full_x));
    scene.area.y = legal(view.y.value_or(scene.full_y));
    scene.x_ticks =
        ticks_of(scene.area.x, static_cast<int>(scene.area.box.width / 70.0), TickText::plain);
    scene.y_ticks =
        ticks_of(scene.area.y, static_cast<int>(scene.area.box.height / 34.0), TickText::si);
    for (ScenePoint& point : scene.points) {
        point.selected = view.selection.contains(point.id);
    }
    Labels(scene, view).place_all();
}

} // namespace eyeroof::report
