#include "study/scene/waterfall_scene.hpp"

#include "model/base/units.hpp"
#include "study/report_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr double kMargin = 16.0;
constexpr double kHeading = 58.0;
constexpr double kReasonPx = 11.0;
constexpr double kLeastLoss = 0.0005; // smaller losses are rounding, not a change worth a number

std::string lost_text(double before, double after) {
    const double lost = before > 0.0 ? 1.0 - after / before : 0.0;
    return lost < kLeastLoss ? std::string{} : fmt::format("−{:.1f} %", 100.0 * lost);
}

WaterfallBar step_bar(const Report& report, const LayerReport& layer, std::size_t step) {
    const double units = report.machine.units;
    const model::StepBound& bound = layer.steps[step - 1];
    WaterfallBar bar;
    bar.step = step;
    bar.name = fmt::format("{} {}", step, model::kStepNames[step - 1]);
    bar.before = share_after(layer.steps, units, step - 1);
    bar.mapping = share_after(layer.steps, units, step);
    bar.machine = std::max(bar.mapping, share_after(layer.machine_steps, units, step));
    bar.value = model::format_si(bound.macs_per_cycle, "MAC/cycle", 4);
    bar.change = lost_text(bar.before, bar.mapping);
    bar.reason = bound.reason.empty() ? bound.limit : bound.reason;
    bar.worst = step == layer.limiter_step && !bar.change.empty();
    bar.colour = series_role(step - 1);
    return bar;
}

// What a time means as a share of the machine: work / (time x clock x units).
WaterfallBar time_bar(const Report& report, const LayerReport& layer, const char* name,
                      double time_s, double before) {
    const double rate = work_of(layer).amount / time_s / report.machine.clock_hz;
    const double per_cycle = layer.macs > 0 ? rate : rate / 2.0;
    WaterfallBar bar;
    bar.name = name;
    bar.before = before;
    bar.mapping = std::min(1.0, per_cycle / report.machine.units);
    bar.machine = bar.mapping;
    bar.value = model::format_si(time_s, "s", 4);
    bar.change = lost_text(before, bar.mapping);
    bar.colour = ColourRole::text;
    return bar;
}

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

void place_bars(WaterfallScene& scene) {
    const double width = scene.canvas.width;
    double names = 0.0;
    double values = 0.0;
    for (const WaterfallBar& bar : scene.bars) {
        names = std::max(names, text_width(bar.name, kFontPx));
        values = std::max(values, text_width(bar.value, kFontPx));
    }
    const double change = text_width("−99.9 %", kFontPx);
    const bool narrow = width < 760.0; // no room for sentences beside the bars
    const double left = kMargin + names + 12.0;
    const double free = width - left - values - change - 3.0 * 12.0 - kMargin;
    const double bars_width = std::max(60.0, narrow ? free : free * 0.5);
    scene.name_x = kMargin;
    scene.bars_area = {left, kHeading, bars_width, scene.canvas.height - kHeading - kMargin};
    scene.value_x = left + bars_width + change + 12.0 + values;
    scene.reason_x = narrow ? width : scene.value_x + 14.0;
    const double row =
        std::clamp(scene.bars_area.height / static_cast<double>(scene.bars.size()), 18.0, 52.0);
    scene.canvas.height = std::min(
        scene.canvas.height, kHeading + row * static_cast<double>(scene.bars.size()) + kMargin);
    for (std::size_t i = 0; i < scene.bars.size(); ++i) {
        WaterfallBar& bar = scene.bars[i];
        const double top = kHeading + row * static_cast<double>(i);
        const double pad = row * 0.16;
        const auto from_to = [&](double from, double to, double inset) {
            return Box{left + bars_width * from, top + pad + inset,
                       std::max(0.0, bars_width * (to - from)), row - 2.0 * pad - 2.0 * inset};
        };
        bar.row = {0.0, top, width, row};
        bar.machine_box = from_to(0.0, bar.machine, 0.0);
        bar.mapping_box = from_to(0.0, bar.mapping, 0.0);
        bar.lost_box = from_to(std::max(bar.mapping, bar.machine), bar.before, row * 0.12);
        const auto lines = static_cast<std::size_t>(std::max(1.0, std::floor(row / 14.0)));
        bar.reason_lines = narrow ? std::vector<std::string>{}
                                  : wrapped_to(bar.reason, width - scene.reason_x - kMargin, lines);
    }
}

} // namespace

WaterfallScene make_waterfall(const Report& report, std::size_t index,
                              std::optional<double> measured_s, const Canvas& canvas) {
    const LayerReport& layer = report.layers.at(index);
    WaterfallScene scene;
    scene.canvas = {std::max(canvas.width, 320.0), std::max(canvas.height, 220.0)};
    scene.title = fmt::format("{} on {}", layer.layer.name, report.machine.name);
    scene.subtitle = fmt::format("{:.1f} % of {} per cycle{}", 100.0 * layer.utilization,
                                 model::format_si(report.machine.units, "MAC", 4),
                                 layer.limiter.empty() ? "" : "; most is lost to " + layer.limiter);
    WaterfallBar all;
    all.name = "all units";
    all.value = model::format_si(report.machine.units, "MAC/cycle", 4);
    all.reason = "every unit does one MAC in every cycle";
    all.colour = ColourRole::text;
    scene.bars.push_back(all);
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        scene.bars.push_back(step_bar(report, layer, step));
        const WaterfallBar& bar = scene.bars.back();
        scene.has_gap = scene.has_gap || bar.machine > bar.mapping * (1.0 + kLeastLoss);
    }
    if (layer.time_s > 0.0 && report.machine.clock_hz > 0.0) {
        const double after = scene.bars.back().mapping;
        scene.bars.push_back(time_bar(report, layer, "predicted", layer.time_s, after));
        scene.bars.back().reason = "with everything that the layer waits for";
        if (measured_s && *measured_s > 0.0) {
            const double predicted = scene.bars.back().mapping;
            scene.bars.push_back(time_bar(report, layer, "measured", *measured_s, predicted));
            scene.bars.back().reason = "the difference to the prediction is unexplained";
        }
    }
    const char* note = "; pale: what a better mapping could reach";
    const double room = scene.canvas.width - 2.0 * kMargin;
    scene.note = scene.has_gap && text_width(scene.subtitle + note, kFontPx) <= room ? note : "";
    place_bars(scene);
    return scene;
}

std::optional<std::size_t> bar_at(const WaterfallScene& scene, Place place) {
    for (std::size_t i = 0; i < scene.bars.size(); ++i) {
        if (overlap(scene.bars[i].row, {place.x, place.y, 0.1, 0.1})) {
            return i;
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::study
