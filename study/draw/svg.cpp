#include "study/draw/svg.hpp"

#include "study/text/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace eyeroof::study {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostTitles = 3000; // beyond, hover texts would be most of the file

std::string theme_rules(Theme theme) {
    std::string css;
    for (std::size_t i = 0; i < kColourRoles; ++i) {
        const auto role = static_cast<ColourRole>(i);
        const std::string colour = hex(colour_of(role, theme));
        css += fmt::format(".f-{0}{{fill:{1}}}.s-{0}{{stroke:{1}}}\n", role_name(role), colour);
        const std::string ink = hex(ink_of(role, theme));
        css += ink == colour ? "" : fmt::format("text.f-{}{{fill:{}}}\n", role_name(role), ink);
    }
    css += fmt::format(".halo{{stroke:{}}}\n", hex(colour_of(ColourRole::plot, theme)));
    return css;
}

void line(std::string& svg, Place from, Place to, std::string_view css, double width,
          std::string_view more = {}) {
    fmt::format_to(Out(svg),
                   "<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" "
                   "stroke-width=\"{}\"{}/>\n",
                   css, from.x, from.y, to.x, to.y, width, more);
}

void text(std::string& svg, Place at, std::string_view content, std::string_view css,
          double font_px, std::string_view more = {}) {
    fmt::format_to(Out(svg),
                   "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}>{}</text>\n",
                   css, at.x, at.y, font_px, more, svg_escape(content));
}

void write_heading(std::string& svg, const RooflineScene& scene) {
    double y = 16.0;
    if (!scene.title.empty()) {
        y += kTitlePx * 0.9;
        text(svg, {16.0, y}, scene.title, "f-text", kTitlePx, " font-weight=\"bold\"");
        y += kTitlePx * 0.45;
    }
    text(svg, {16.0, y + kFontPx * 0.9}, scene.subtitle, "f-faint", kFontPx);
    double below = scene.area.box.top - 8.0 - kFontPx * 1.35;
    for (auto w = scene.warnings.rbegin(); w != scene.warnings.rend(); ++w) {
        text(svg, {16.0, below}, "! " + *w, "f-warning", kFontPx);
        below -= kFontPx * 1.35;
    }
    for (auto note = scene.notes.rbegin(); note != scene.notes.rend(); ++note) {
        text(svg, {16.0, below}, *note, "f-faint", kFontPx);
        below -= kFontPx * 1.35;
    }
    text(svg, {16.0, scene.area.box.top - 8.0}, scene.y_title, "f-faint", kFontPx);
}

void write_axes(std::string& svg, const RooflineScene& scene) {
    const Box& box = scene.area.box;
    fmt::format_to(Out(svg),
                   "<rect class=\"f-plot\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                   "height=\"{:.1f}\"/>\n",
                   box.left, box.top, box.width, box.height);
    for (const bool major : {false, true}) { // numbered lines lie above the others
        const char* css = major ? "s-grid" : "s-grid-minor";
        for (const Tick& tick : scene.x_ticks) {
            const double x = scene.area.place_of(tick.value, scene.area.y.min).x;
            if (tick.major == major) {
                line(svg, {x, box.top}, {x, box.bottom()}, css, 1.0);
            }
        }
        for (const Tick& tick : scene.y_ticks) {
            const double y = scene.area.place_of(scene.area.x.min, tick.value).y;
            if (tick.major == major) {
                line(svg, {box.left, y}, {box.right(), y}, css, 1.0);
            }
        }
    }
    for (const Tick& tick : scene.x_ticks) {
        const double x = scene.area.place_of(tick.value, scene.area.y.min).x;
        text(svg, {x, box.bottom() + 16.0}, tick.label, "f-faint", 11.0, " text-anchor=\"middle\"");
    }
    for (const Tick& tick : scene.y_ticks) {
        const double y = scene.area.place_of(scene.area.x.min, tick.value).y;
        text(svg, {box.left - 6.0, y + 4.0}, tick.label, "f-faint", 11.0, " text-anchor=\"end\"");
    }
    fmt::format_to(Out(svg),
                   "<rect class=\"s-frame\" fill=\"none\" x=\"{:.1f}\" y=\"{:.1f}\" "
                   "width=\"{:.1f}\" height=\"{:.1f}\"/>\n",
                   box.left, box.top, box.width, box.height);
    text(svg, {box.left + box.width / 2.0, box.bottom() + 38.0}, scene.x_title, "f-faint", kFontPx,
         " text-anchor=\"middle\"");
}

// A value far outside would be a coordinate that viewers cannot hold.
Place near_box(Place place, const Box& box) {
    const double reach = 4.0 * (box.width + box.height);
    return {std::clamp(place.x, box.left - reach, box.right() + reach),
            std::clamp(place.y, box.top - reach, box.bottom() + reach)};
}

void write_roofs(std::string& svg, const RooflineScene& scene) {
    for (const SceneRoof& roof : scene.roofs) {
        const PlotArea& area = scene.area;
        // Both ends within the axis; a memory roof keeps its slope since x alone is limited.
        const double from_x = std::clamp(roof.from_x, area.x.min, area.x.max);
        const double to_x = std::clamp(roof.to_x, area.x.min, area.x.max);
        if (from_x >= to_x) {
            continue;
        }
        const Place from = area.place_of(from_x, roof.y_at(from_x));
        const Place to = area.place_of(to_x, roof.y_at(to_x));
        const std::string css = fmt::format("s-{}", role_name(roof.colour));
        line(svg, from, to, css, roof.roof.measured ? 2.6 : 1.8,
             roof.dashed ? " stroke-dasharray=\"7 4\"" : "");
    }
    for (const Ridge& ridge : scene.ridges) {
        const Place at = near_box(scene.area.place_of(ridge.x, ridge.y), scene.area.box);
        fmt::format_to(Out(svg),
                       "<circle class=\"f-plot s-{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" "
                       "stroke-width=\"1.6\"/>\n",
                       role_name(ridge.colour), at.x, at.y);
    }
}

void write_links(std::string& svg, const RooflineScene& scene) {
    for (const SceneLink& link : scene.links) {
        const ScenePoint& a = scene.points[link.from];
        const ScenePoint& b = scene.points[link.to];
        line(svg, near_box(scene.area.place_of(a.x, a.y), scene.area.box),
             near_box(scene.area.place_of(b.x, b.y), scene.area.box), "s-faint", 1.0,
             " stroke-dasharray=\"2 3\"");
    }
}

std::string marker_shape(Marker marker, double radius, Place at) {
    const auto corners = marker_corners(marker);
    if (corners.empty()) {
        return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", at.x, at.y, radius);
    }
    std::string path;
    for (const Place& corner : corners) {
        fmt::format_to(Out(path), "{}{:.1f} {:.1f}", path.empty() ? "M" : "L",
                       at.x + radius * corner.x, at.y + radius * corner.y);
    }
    return fmt::format("<path d=\"{}Z\"", path);
}

std::string series_class(const SceneSeries& series) {
    return series.hollow ? fmt::format("f-plot s-{}", role_name(series.colour))
                         : fmt::format("f-{} s-plot", role_name(series.colour));
}

void write_points(std::string& svg, const RooflineScene& scene) {
    const bool titles = scene.points.size() <= kMostTitles;
    const double edge = scene.points.size() > 300 ? 0.4 : 1.0;
    for (const ScenePoint& point : scene.points) {
        if (!is_drawn(scene, point)) {
            continue;
        }
        const Place at = scene.area.place_of(point.x, point.y);
        const SceneSeries& series = scene.series[point.series];
        fmt::format_to(Out(svg), "{} class=\"p {}\" stroke-width=\"{}\" opacity=\"{}\"",
                       marker_shape(series.marker, point.radius, at), series_class(series),
                       series.hollow ? 1.8 : edge, scene.point_opacity);
        if (titles) {
            fmt::format_to(Out(svg), "><title>{}</title>{}", svg_escape(point.name),
                           series.marker == Marker::circle ? "</circle>\n" : "</path>\n");
        } else {
            svg += "/>\n";
        }
        const char* ring = point.above_roof ? "s-warning"
                           : point.selected ? "s-selection"
                                            : nullptr;
        if (ring != nullptr) {
            fmt::format_to(Out(svg),
                           "<circle class=\"{}\" fill=\"none\" stroke-width=\"2\" cx=\"{:.1f}\" "
                           "cy=\"{:.1f}\" r=\"{:.1f}\"/>\n",
                           ring, at.x, at.y, point.radius * 1.3 + 3.0);
        }
    }
}

void write_labels(std::string& svg, const RooflineScene& scene) {
    for (const SceneLabel& label : scene.labels) {
        const double size = label.kind == LabelKind::roof ? kFontPx : 11.0;
        std::string more(kHalo);
        if (label.degrees != 0.0) {
            more += fmt::format(" transform=\"rotate({:.2f} {:.1f} {:.1f})\"", label.degrees,
                                label.start.x, label.start.y);
        }
        text(svg, label.start, label.text, fmt::format("halo f-{}", role_name(label.colour)), size,
             more);
    }
}

void write_legend(std::string& svg, const RooflineScene& scene) {
    for (const LegendEntry& entry : scene.legend) {
        const SceneSeries& series = scene.series[entry.series];
        fmt::format_to(Out(svg), "{} class=\"{}\" stroke-width=\"{}\"/>\n",
                       marker_shape(series.marker, 5.0, entry.marker), series_class(series),
                       series.hollow ? 1.8 : 0.8);
        text(svg, entry.text, entry.name, "f-text", kFontPx);
    }
}

} // namespace

std::string svg_escape(std::string_view content) {
    std::string escaped;
    for (const char c : printable(content)) {
        switch (c) {
        case '&':
            escaped += "&amp;";
            break;
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            escaped += c;
        }
    }
    return escaped;
}

std::string svg_open(const Canvas& canvas, std::string_view title, std::string_view description,
                     SvgTheme theme) {
    std::string css = theme_rules(theme == SvgTheme::dark ? Theme::dark : Theme::light);
    if (theme == SvgTheme::automatic) {
        css += "@media (prefers-color-scheme: dark){\n" + theme_rules(Theme::dark) + "}\n";
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" font-family=\"'Helvetica Neue', Arial, "
        "'Liberation Sans', 'DejaVu Sans', sans-serif\">\n<title>{2}</title>\n<desc>{3}</desc>\n"
        "<style>\n{4}</style>\n"
        "<rect class=\"f-background\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
        canvas.width, canvas.height, svg_escape(title), svg_escape(description), css);
}

bool is_drawn(const RooflineScene& scene, const ScenePoint& point) {
    constexpr double edge = 16.0; // pixels
    const Box& box = scene.area.box;
    const Place at = scene.area.place_of(point.x, point.y);
    return overlap({at.x, at.y, 0.1, 0.1}, {box.left - edge, box.top - edge, box.width + 2.0 * edge,
                                            box.height + 2.0 * edge});
}

std::string to_svg(const RooflineScene& scene, SvgTheme theme) {
    const Box& box = scene.area.box;
    std::string svg = svg_open(scene.canvas, scene.title.empty() ? "Roofline" : scene.title,
                               scene.subtitle, theme);
    fmt::format_to(Out(svg),
                   "<clipPath id=\"plot\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                   "height=\"{:.1f}\"/></clipPath>\n",
                   box.left, box.top, box.width, box.height);
    write_heading(svg, scene);
    write_legend(svg, scene);
    write_axes(svg, scene);
    svg += "<g clip-path=\"url(#plot)\">\n";
    write_links(svg, scene);
    write_roofs(svg, scene);
    write_points(svg, scene);
    write_labels(svg, scene);
    svg += "</g>\n</svg>\n";
    return svg;
}

} // namespace eyeroof::study
