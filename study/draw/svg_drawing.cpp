#include "study/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace eyeroof::study {

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
    fmt::format_to(
        Out(svg), "<polyline class=\"s-{}\" fill=\"none\" stroke-width=\"{}\"{} points=\"{}\"/>\n",
        role_name(line.role), line.width, line.dashed ? " stroke-dasharray=\"4 3\"" : "", points);
}

void write_text(std::string& svg, const DrawnText& text) {
    const char* anchor = text.anchor >= 1.0  ? " text-anchor=\"end\""
                         : text.anchor > 0.0 ? " text-anchor=\"middle\""
                                             : "";
    fmt::format_to(Out(svg),
                   "<text class=\"{}f-{}\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}{}{}>{}"
                   "</text>\n",
                   text.over ? "halo " : "", role_name(text.role), text.at.x, text.at.y, text.px,
                   anchor, text.bold ? " font-weight=\"bold\"" : "", text.over ? kHalo : "",
                   svg_escape(text.text));
}

} // namespace

std::string to_svg(const Drawing& drawing, SvgTheme theme) {
    std::string svg = svg_open(drawing.canvas, drawing.title, "", theme);
    for (const DrawnBox& box : drawing.boxes) {
        write_box(svg, box);
    }
    for (const DrawnLine& line : drawing.lines) {
        write_line(svg, line);
    }
    for (const DrawnText& text : drawing.texts) {
        write_text(svg, text);
    }
    return svg + "</svg>\n";
}

} // namespace eyeroof::study
