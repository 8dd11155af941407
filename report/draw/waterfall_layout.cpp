#include "report/draw/fitted_text.hpp"
#include "report/draw/waterfall_parts.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

namespace {

constexpr double kHeading = 70.0;
constexpr double kLegendLine = 62.0; // its baseline
constexpr double kBelow = 4.0;
constexpr double kCorner = 150.0; // right of the title, where the window has its switch
constexpr double kNarrow = 760.0;
constexpr double kColumnGap = 12.0;
constexpr double kBold = 1.12;  // as wide as plain text
constexpr double kStrip = 19.0; // from this height of rows on a bar lies below its text

std::vector<std::string> wrapped_to(const std::string& text, double width, std::size_t most) {
    std::vector<std::string> lines;
    std::string line;
    std::size_t at = 0;
    while (at < text.size() && lines.size() < most) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        const std::string longer = line.empty() ? word : line + ' ' + word;
        if (!line.empty() && text_width(longer, kReasonPx) > width) {
            lines.push_back(line);
            line = word;
        } else {
            line = longer;
        }
        at = end + 1;
    }
    if (lines.size() < most && !line.empty()) {
        lines.push_back(line);
    } else if (!lines.empty() && !line.empty()) {
        lines.back() += " …";
    }
    return lines;
}

// "3.67 MMAC/cycle" as "3.67 M": the column's head says the unit once, the bars get the room.
void drop_units(WaterfallScene& scene) {
    constexpr std::string_view unit = "MAC/cycle";
    scene.unit = unit;
    for (WaterfallBar& bar : scene.bars) {
        if (bar.value.ends_with(unit)) {
            bar.value.resize(bar.value.size() - unit.size());
            while (bar.value.ends_with(' ')) {
                bar.value.pop_back();
            }
        }
    }
}

// Where the columns stand.
struct Columns {
    double bars_left = 0.0, bars_width = 0.0;
    bool narrow = false; // no room for sentences beside the bars
    bool below = false;  // bars lie below their text, as wide as the ladder
};

Columns place_columns(WaterfallScene& scene, double row) {
    const double width = scene.canvas.width;
    Columns columns{0.0, 0.0, width < kNarrow, width < kNarrow && row >= kStrip};
    double names = 0.0;
    double values = text_width(scene.unit, kReasonPx);
    for (const WaterfallBar& bar : scene.bars) {
        names = std::max(names, text_width(bar.name, kFontPx) * (bar.worst ? kBold : 1.0));
        values = std::max(values, text_width(bar.value, kFontPx));
    }
    double change = text_width("−99.9 %", kFontPx);
    for (const WaterfallBar& bar : scene.bars) {
        change = std::max(change, text_width(bar.change, kFontPx));
    }
    scene.name_x = kLadderSide;
    if (columns.below) {
        columns.bars_left = kLadderSide;
        columns.bars_width = width - 2.0 * kLadderSide;
        scene.value_x = width - kLadderSide;
    } else {
        columns.bars_left = kLadderSide + names + kColumnGap;
        const double free =
            width - columns.bars_left - values - change - 3.0 * kColumnGap - kLadderSide;
        columns.bars_width = std::max(60.0, columns.narrow ? free : free * 0.5);
        scene.value_x = std::min(width - kLadderSide, columns.bars_left + columns.bars_width +
                                                          change + 2.0 * kColumnGap + values);
    }
    scene.change_x = scene.value_x - values - kColumnGap;
    scene.reason_x = columns.narrow ? width : scene.value_x + 14.0;
    return columns;
}

// Names give way to numbers.
void fit_name(const WaterfallScene& scene, const Columns& columns, WaterfallBar& bar) {
    const double end = columns.below ? scene.change_x - text_width(bar.change, kFontPx) - kColumnGap
                                     : columns.bars_left - 4.0;
    bar.shown_name = fitted(bar.name, kFontPx * (bar.worst ? kBold : 1.0), end - scene.name_x);
}

void place_bars(WaterfallScene& scene) {
    const double width = scene.canvas.width;
    if (width < kNarrow) {
        drop_units(scene);
    }
    const auto count = static_cast<double>(scene.bars.size());
    const double row = std::clamp((scene.canvas.height - kHeading - kBelow) / count, 15.0, 52.0);
    scene.canvas.height = std::min(scene.canvas.height, kHeading + row * count + kBelow);
    const Columns columns = place_columns(scene, row);
    scene.bars_area = {columns.bars_left, kHeading, columns.bars_width, row * count};
    const double pad = columns.below ? 1.0 : row * 0.16;
    for (std::size_t i = 0; i < scene.bars.size(); ++i) {
        WaterfallBar& bar = scene.bars[i];
        const double top = kHeading + row * static_cast<double>(i);
        const double bar_top = columns.below ? top + kFontPx + 3.0 : top + pad;
        const auto from_to = [&](double from, double to, double inset) {
            return Box{columns.bars_left + columns.bars_width * from, bar_top + inset,
                       std::max(0.0, columns.bars_width * (to - from)),
                       top + row - pad - bar_top - 2.0 * inset};
        };
        bar.row = {0.0, top, width, row};
        bar.baseline = columns.below ? top + kFontPx : top + row / 2.0 + kFontPx * 0.36;
        bar.machine_box = from_to(0.0, bar.machine, 0.0);
        bar.mapping_box = from_to(0.0, bar.mapping, 0.0);
        bar.lost_box = from_to(std::max(bar.mapping, bar.machine), bar.before,
                               columns.below ? 0.0 : row * 0.12);
        const auto lines = static_cast<std::size_t>(std::max(1.0, std::floor(row / 14.0)));
        bar.reason_lines =
            columns.narrow ? std::vector<std::string>{}
                           : wrapped_to(bar.reason, width - scene.reason_x - kLadderSide, lines);
        fit_name(scene, columns, bar);
    }
}

// What the tones of the bars mean, beside the unit.
void place_legend(WaterfallScene& scene) {
    constexpr double kBox = 9.0;
    scene.legend_y = kLegendLine;
    double x = kLadderSide;
    const double end = scene.value_x - text_width(scene.unit, kReasonPx) - kColumnGap;
    const auto add = [&](const char* text, double opacity) {
        WaterfallKey key{{x, kLegendLine - kBox, kBox, kBox},
                         {x + kBox + 4.0, kLegendLine},
                         text,
                         ColourRole::faint,
                         opacity};
        const double next = key.at.x + text_width(text, kReasonPx);
        if (next <= end) {
            scene.legend.push_back(std::move(key));
            x = next + kColumnGap;
        }
    };
    add("this mapping", 1.0);
    if (scene.has_gap) {
        add("a better one", kPaleTone);
    }
}

} // namespace

WaterfallScene ladder_on(const Canvas& canvas) {
    WaterfallScene scene;
    scene.canvas = {std::max(canvas.width, 320.0), std::max(canvas.height, 230.0)};
    return scene;
}

void place_ladder(WaterfallScene& scene) {
    const double title_room = scene.canvas.width - kLadderSide - kCorner;
    constexpr double kLeastTitlePx = 13.0;
    const auto too_wide = [&] {
        return text_width(scene.title, scene.title_px) * kBold > title_room;
    };
    while (too_wide() && scene.title_px > kLeastTitlePx) {
        scene.title_px -= 1.0;
    }
    scene.title = fitted(scene.title, scene.title_px * kBold, title_room);
    place_bars(scene);
    place_legend(scene);
    scene.subtitle = fitted(scene.subtitle, kFontPx, scene.canvas.width - 2.0 * kLadderSide);
}

} // namespace eyeroof::report
