#include "report/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace eyeroof::report {

namespace {

using Out = std::back_insert_iterator<std::string>;

void write_box(std::string& svg, const DrawnBox& box) {
    const std::string role = role_name(box.role);
    const std::string look =
        !box.outline  ? fmt::format("class=\"f-{}\" opacity=\"{:.2f}\"", role, box.opacity)
        : !box.dotted ? fmt::format("class=\"s-{}\" fill=\"none\"", role)
                      : fmt::format("class=\"s-{}\" fill=\"none\" stroke-dasharray=\"3 3\" "
                                    "opacity=\"{:.2f}\"",
                                    role, box.opacity);
    fmt::format_to(
        Out(svg), "<rect {} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"", look,
        box.box.left, box.box.top, std::max(0.0, box.box.width), std::max(0.0, box.box.height));
    svg += box.tip.empty() ? "/>\n" : "><title>" + svg_escape(box.tip) + "</title></rect>\n";
}

void write_line(std::string& svg, const DrawnLine& line) {
    std::string points;
    for (const Place& place : line.through) {
        fmt::format_to(Out(points), "{}{:.1f},{:.1f}", points.empty() ? "" : " ", place.x, place.y);
    }
    const DashPattern pattern = pattern_of(line.dash);
    const std::string dash = line.dash == Dash::whole ? std::string()
                                                      : fmt::format(" stroke-dasharray=\"{} {}\"",
                                                                    pattern.on, pattern.off);
    fmt::format_to(Out(svg),
                   "<polyline class=\"s-{}\" fill=\"none\" stroke-width=\"{}\"{} points=\"{}\"/>\n",
                   role_name(line.role), line.width, dash, points);
}

// The class and the strokes that all markers of a look share.
std::string look_text(const MarkerLook& look) {
    const std::string fill =
        look.fill ? fmt::format("f-{} ", role_name(*look.fill)) : std::string();
    return fmt::format(" class=\"{}{}s-{}\"{} stroke-width=\"{}\"{}", look.counts ? "p " : "", fill,
                       role_name(look.edge), look.fill ? "" : " fill=\"none\"", look.edge_px,
                       look.opacity < 1.0 ? fmt::format(" opacity=\"{}\"", look.opacity) : "");
}

void write_shape(std::string& svg, Marker shape, double radius, Place at) {
    const auto corners = marker_corners(shape);
    if (corners.empty()) {
        fmt::format_to(Out(svg), "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"", at.x, at.y,
                       radius);
        return;
    }
    svg += "<path d=\"";
    for (std::size_t i = 0; i < corners.size(); ++i) {
        fmt::format_to(Out(svg), "{}{:.1f} {:.1f}", i == 0 ? "M" : "L",
                       at.x + radius * corners[i].x, at.y + radius * corners[i].y);
    }
    svg += "Z\"";
}

void write_markers(std::string& svg, const DrawnLayer& layer) {
    std::vector<std::string> looks;
    for (const MarkerLook& look : layer.looks) {
        looks.push_back(look_text(look));
    }
    for (const DrawnMarker& marker : layer.markers) {
        const Marker shape = layer.looks[marker.look].shape;
        write_shape(svg, shape, marker.radius, marker.at);
        svg += looks[marker.look];
        if (marker.tip >= layer.tips.size()) {
            svg += "/>\n";
        } else {
            fmt::format_to(Out(svg), "><title>{}</title></{}>\n",
                           svg_escape(layer.tips[marker.tip]),
                           shape == Marker::circle ? "circle" : "path");
        }
    }
}

void write_text(std::string& svg, const DrawnText& text) {
    const char* anchor = text.anchor >= 1.0  ? " text-anchor=\"end\""
                         : text.anchor > 0.0 ? " text-anchor=\"middle\""
                                             : "";
    const std::string turn = text.degrees != 0.0
                                 ? fmt::format(" transform=\"rotate({:.2f} {:.1f} {:.1f})\"",
                                               text.degrees, text.at.x, text.at.y)
                                 : std::string();
    fmt::format_to(Out(svg),
                   "<text class=\"{}f-{}\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}{}{}{}>{}"
                   "</text>\n",
                   text.over ? "halo " : "", role_name(text.role), text.at.x, text.at.y, text.px,
                   anchor, text.bold ? " font-weight=\"bold\"" : "", text.over ? kHalo : "", turn,
                   svg_escape(text.text));
}

void write_layer(std::string& svg, const DrawnLayer& layer) {
    for (const DrawnBox& box : layer.boxes) {
        write_box(svg, box);
    }
    for (const DrawnLine& line : layer.lines) {
        write_line(svg, line);
    }
    write_markers(svg, layer);
    for (const DrawnText& text : layer.texts) {
        write_text(svg, text);
    }
}

} // namespace

std::string to_svg(const Drawing& drawing, SvgTheme theme) {
    std::string svg = svg_open(drawing.canvas, drawing.title, drawing.description, theme);
    write_layer(svg, drawing);
    for (const ClippedLayer& layer : drawing.layers) {
        const Box& clip = layer.clip;
        // The id says where it clips: on a page with several pictures equal ids mean equal boxes.
        const std::string id = fmt::format("clip-{:.0f}-{:.0f}-{:.0f}-{:.0f}", clip.left, clip.top,
                                           clip.width, clip.height);
        fmt::format_to(Out(svg),
                       "<clipPath id=\"{0}\"><rect x=\"{1:.1f}\" y=\"{2:.1f}\" "
                       "width=\"{3:.1f}\" height=\"{4:.1f}\"/></clipPath>\n"
                       "<g clip-path=\"url(#{0})\">\n",
                       id, clip.left, clip.top, clip.width, clip.height);
        write_layer(svg, layer);
        svg += "</g>\n";
    }
    return svg + "</svg>\n";
}

} // namespace eyeroof::report
