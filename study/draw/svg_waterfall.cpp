#include "study/draw/svg.hpp"

#include <fmt/format.h>

#include <iterator>

namespace eyeroof::study {

namespace {

using Out = std::back_insert_iterator<std::string>;

void rect(std::string& svg, const Box& box, std::string_view css, std::string_view more = {}) {
    if (box.width > 0.05) {
        fmt::format_to(Out(svg),
                       "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                       "height=\"{:.1f}\"{}/>\n",
                       css, box.left, box.top, box.width, box.height, more);
    }
}

void text(std::string& svg, Place at, std::string_view content, std::string_view css,
          double font_px, std::string_view more = {}) {
    fmt::format_to(Out(svg),
                   "<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\"{}>{}</text>\n",
                   css, at.x, at.y, font_px, more, svg_escape(content));
}

void write_bar(std::string& svg, const WaterfallScene& scene, const WaterfallBar& bar) {
    const double middle = bar.row.top + bar.row.height / 2.0;
    const double baseline = bar.baseline;
    if (bar.worst) {
        rect(svg, bar.row, "f-warning", " opacity=\"0.10\"");
    }
    text(svg, {scene.name_x, baseline}, bar.shown_name, "f-text", kFontPx,
         bar.worst ? " font-weight=\"bold\"" : "");
    const std::string role = role_name(bar.colour);
    rect(svg, bar.lost_box, "s-warning", " fill=\"none\" stroke-dasharray=\"3 3\" opacity=\"0.7\"");
    rect(svg, bar.machine_box, "f-" + role, fmt::format(" opacity=\"{}\"", kPaleTone));
    rect(svg, bar.mapping_box, "f-" + role);
    text(svg, {scene.change_x, baseline}, bar.change, "f-warning", kFontPx, " text-anchor=\"end\"");
    text(svg, {scene.value_x, baseline}, bar.value, "f-text", kFontPx, " text-anchor=\"end\"");
    const double lines = static_cast<double>(bar.reason_lines.size());
    double y = middle + 4.0 - (lines - 1.0) * 6.5;
    for (const std::string& line : bar.reason_lines) {
        text(svg, {scene.reason_x, y}, line, "f-faint", 11.0);
        y += 13.0;
    }
}

} // namespace

std::string to_svg(const WaterfallScene& scene, SvgTheme theme) {
    std::string svg = svg_open(scene.canvas, scene.title, scene.subtitle, theme);
    text(svg, {16.0, 28.0}, scene.title, "f-text", kTitlePx, " font-weight=\"bold\"");
    text(svg, {16.0, 46.0}, scene.subtitle, "f-faint", kFontPx);
    for (const WaterfallKey& key : scene.legend) {
        rect(svg, key.box, fmt::format("f-{}", role_name(key.colour)),
             fmt::format(" opacity=\"{}\"", key.opacity));
        text(svg, key.at, key.text, "f-faint", kReasonPx);
    }
    text(svg, {scene.value_x, scene.legend_y}, scene.unit, "f-faint", kReasonPx,
         " text-anchor=\"end\"");
    for (const WaterfallBar& bar : scene.bars) {
        write_bar(svg, scene, bar);
    }
    svg += "</svg>\n";
    return svg;
}

} // namespace eyeroof::study
