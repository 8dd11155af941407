#include "report/draw/svg.hpp"
#include "report/draw/waterfall_scene.hpp"

namespace eyeroof::report {

namespace {

constexpr double kReasonLine = 13.0; // from one line of a reason to the next

void add_bar(Drawing& drawing, const WaterfallScene& scene, const WaterfallBar& bar) {
    if (bar.worst) {
        drawing.boxes.push_back({bar.row, ColourRole::warning, 0.10});
    }
    if (bar.lost_box.width > 0.5) {
        drawing.boxes.push_back({bar.lost_box, ColourRole::warning, 0.7, true, {}, true});
    }
    drawing.boxes.push_back({bar.machine_box, bar.colour, kPaleTone});
    drawing.boxes.push_back({bar.mapping_box, bar.colour});
    drawing.texts.push_back(
        {{scene.name_x, bar.baseline}, bar.shown_name, ColourRole::text, kFontPx, 0.0, bar.worst});
    drawing.texts.push_back(
        {{scene.change_x, bar.baseline}, bar.change, ColourRole::warning, kFontPx, 1.0});
    drawing.texts.push_back(
        {{scene.value_x, bar.baseline}, bar.value, ColourRole::text, kFontPx, 1.0});
    const double lines = static_cast<double>(bar.reason_lines.size());
    double y = bar.row.top + bar.row.height / 2.0 + 4.0 - (lines - 1.0) * kReasonLine / 2.0;
    for (const std::string& line : bar.reason_lines) {
        drawing.texts.push_back({{scene.reason_x, y}, line, ColourRole::faint, kReasonPx});
        y += kReasonLine;
    }
}

} // namespace

Drawing drawn(const WaterfallScene& scene) {
    Drawing drawing;
    drawing.canvas = scene.canvas;
    drawing.title = scene.title;
    drawing.texts.push_back(
        {{16.0, 28.0}, scene.title, ColourRole::text, scene.title_px, 0.0, true});
    drawing.texts.push_back({{16.0, 46.0}, scene.subtitle, ColourRole::faint, kFontPx});
    for (const WaterfallKey& key : scene.legend) {
        drawing.boxes.push_back({key.box, key.colour, key.opacity});
        drawing.texts.push_back({key.at, key.text, ColourRole::faint, kReasonPx});
    }
    drawing.texts.push_back(
        {{scene.value_x, scene.legend_y}, scene.unit, ColourRole::faint, kReasonPx, 1.0});
    for (const WaterfallBar& bar : scene.bars) {
        add_bar(drawing, scene, bar);
    }
    drawing.figures = figures_of(scene);
    return drawing;
}

std::string to_svg(const WaterfallScene& scene, SvgTheme theme) {
    return to_svg(drawn(scene), theme);
}

} // namespace eyeroof::report
