#include "study/draw/waterfall_scene.hpp"

#include "model/base/units.hpp"
#include "study/exam/report_figures.hpp"
#include "study/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr double kSide = 16.0;
constexpr double kHeading = 70.0;
constexpr double kLegendLine = 62.0; // its baseline
constexpr double kBelow = 4.0;
constexpr double kCorner = 150.0; // right of the title, where the window has its switch
constexpr double kNarrow = 760.0;
constexpr double kColumnGap = 12.0;
constexpr double kBold = 1.12;  // as wide as plain text
constexpr double kStrip = 19.0; // from this height of rows on a bar lies below its text
constexpr const char* kMeasuredName = "unexplained (measured)";
constexpr double kLeastLoss = 0.0005; // smaller losses are rounding, not a change worth a number

std::string lost_text(double before, double after) {
    const double lost = before > 0.0 ? 1.0 - after / before : 0.0;
    return lost < kLeastLoss ? std::string{} : fmt::format("−{:.1f} %", 100.0 * lost);
}

WaterfallBar step_bar(const Report& report, const LayerReport& layer, std::size_t step) {
    const double units = units_of(report.machine, layer);
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
    bar.colour = step_role(step);
    return bar;
}

// MACs, or half the operations of a layer without any: what a chain's bounds count.
double macs_of(const LayerReport& layer) {
    const WorkFigure work = work_of(layer);
    return layer.macs > 0 ? work.amount : work.amount / 2.0;
}

// What a time means as a share of the units' peak: the work's time at that peak over it.
WaterfallBar time_bar(double ideal_s, const char* name, double time_s, double before) {
    WaterfallBar bar;
    bar.name = name;
    bar.before = before;
    bar.mapping = std::min(1.0, ideal_s / time_s);
    bar.machine = bar.mapping;
    bar.value = model::format_si(time_s, "s", 4);
    bar.change = lost_text(before, bar.mapping);
    bar.colour = ColourRole::text;
    return bar;
}

// Measured faster than predicted is unexplained, too.
void tell_gain(WaterfallBar& bar) {
    if (bar.mapping > bar.before * (1.0 + kLeastLoss)) {
        bar.change = fmt::format("+{:.1f} %", 100.0 * (bar.mapping / bar.before - 1.0));
    }
}

std::string unexplained_text(double unexplained_s, double predicted_s) {
    return fmt::format("unexplained: {} ({}) of the prediction", signed_time(unexplained_s),
                       signed_share(unexplained_s, predicted_s));
}

// All layers at the peak of the units that serve them.
double at_peak_s(const Report& report) {
    double seconds = 0.0;
    for (const LayerReport& layer : report.layers) {
        const double rate = units_of(report.machine, layer) * report.machine.clock_hz;
        seconds +=
            rate > 0.0 ? macs_of(layer) * static_cast<double>(layer.layer.count) / rate : 0.0;
    }
    return seconds;
}

void add_times(const Report& report, const LayerReport& layer, WaterfallScene& scene) {
    if (!(layer.time_s > 0.0) || !(report.machine.clock_hz > 0.0)) {
        return;
    }
    const double ideal_s =
        macs_of(layer) / (units_of(report.machine, layer) * report.machine.clock_hz);
    scene.bars.push_back(time_bar(ideal_s, "predicted", layer.time_s, scene.bars.back().mapping));
    scene.bars.back().reason = "with everything that the layer waits for";
    if (!layer.measured || !(layer.measured->time_s > 0.0)) {
        return;
    }
    const LayerMeasurement& m = *layer.measured;
    WaterfallBar bar = time_bar(ideal_s, kMeasuredName, m.time_s, scene.bars.back().mapping);
    tell_gain(bar);
    bar.reason = unexplained_text(m.unexplained_s, m.predicted_s) + "; " + main_disagreement(m);
    scene.bars.push_back(std::move(bar));
}

// What a step leaves of the whole network.
struct NetworkStep {
    double mapping_s = 0.0, machine_s = 0.0; // all layers at their bounds
    double most_lost_s = 0.0;
    const LayerReport* loser = nullptr; // loses most at this step
};

NetworkStep network_step(const Report& report, std::size_t step) {
    NetworkStep sum;
    for (const LayerReport& layer : report.layers) {
        const double units = units_of(report.machine, layer);
        const double per_second = units * report.machine.clock_hz;
        const double ideal_s = macs_of(layer) * static_cast<double>(layer.layer.count) / per_second;
        const double share = share_after(layer.steps, units, step);
        const double before = share_after(layer.steps, units, step - 1);
        if (!(ideal_s > 0.0) || !(share > 0.0)) {
            continue;
        }
        const double lost_s = ideal_s / share - ideal_s / before;
        sum.mapping_s += ideal_s / share;
        sum.machine_s += ideal_s / std::max(share, share_after(layer.machine_steps, units, step));
        if (lost_s > sum.most_lost_s) {
            sum.most_lost_s = lost_s;
            sum.loser = &layer;
        }
    }
    return sum;
}

std::string loser_text(const NetworkStep& now, double lost_s, std::size_t step) {
    if (now.loser == nullptr || !(lost_s > 0.0)) {
        return "costs nothing";
    }
    const model::StepBound& bound = now.loser->steps[step - 1];
    return fmt::format("{} lost, {:.0f} % of it in {}: {}", model::format_si(lost_s, "s", 3),
                       100.0 * now.most_lost_s / lost_s, now.loser->layer.name,
                       bound.reason.empty() ? bound.limit : bound.reason);
}

void add_network_times(const Report& report, double ideal_s, WaterfallScene& scene) {
    scene.bars.push_back(
        time_bar(ideal_s, "predicted", report.total.time_s, scene.bars.back().mapping));
    scene.bars.back().reason = "with everything that the layers wait for";
    if (!report.measured || report.measured->layers == 0) {
        return;
    }
    const Measurement& m = *report.measured;
    WaterfallBar bar = time_bar(ideal_s, kMeasuredName, report.total.time_s + m.unexplained_s,
                                scene.bars.back().mapping);
    tell_gain(bar);
    bar.reason = unexplained_text(m.unexplained_s, m.predicted_s) +
                 (m.layers < report.layers.size()
                      ? fmt::format(" of the {} layers that were measured, of {}", m.layers,
                                    report.layers.size())
                      : "");
    scene.bars.push_back(std::move(bar));
}

WaterfallBar all_units(double units) {
    WaterfallBar all;
    all.name = "all units";
    all.value = model::format_si(units, "MAC/cycle", 4);
    all.reason = "every unit does one MAC in every cycle";
    all.colour = ColourRole::text;
    return all;
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
    const double change = text_width("−99.9 %", kFontPx);
    scene.name_x = kSide;
    if (columns.below) {
        columns.bars_left = kSide;
        columns.bars_width = width - 2.0 * kSide;
        scene.value_x = width - kSide;
    } else {
        columns.bars_left = kSide + names + kColumnGap;
        const double free = width - columns.bars_left - values - change - 3.0 * kColumnGap - kSide;
        columns.bars_width = std::max(60.0, columns.narrow ? free : free * 0.5);
        scene.value_x = std::min(width - kSide, columns.bars_left + columns.bars_width + change +
                                                    2.0 * kColumnGap + values);
    }
    scene.change_x = scene.value_x - values - kColumnGap;
    scene.reason_x = columns.narrow ? width : scene.value_x + 14.0;
    return columns;
}

// Names give way to numbers.
void fit_name(const WaterfallScene& scene, const Columns& columns, WaterfallBar& bar) {
    const double end = columns.below ? scene.change_x - text_width(bar.change, kFontPx) - kColumnGap
                                     : columns.bars_left - 4.0;
    bar.shown_name = bar.name;
    for (std::size_t most = bar.name.size();
         text_width(bar.shown_name, kFontPx) * (bar.worst ? kBold : 1.0) > end - scene.name_x &&
         most > 6;
         --most) {
        bar.shown_name = shortened(bar.name, most);
    }
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
        bar.reason_lines = columns.narrow
                               ? std::vector<std::string>{}
                               : wrapped_to(bar.reason, width - scene.reason_x - kSide, lines);
        fit_name(scene, columns, bar);
    }
}

// What the tones of the bars mean, beside the unit.
void place_legend(WaterfallScene& scene) {
    constexpr double kBox = 9.0;
    scene.legend_y = kLegendLine;
    double x = kSide;
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

namespace {

WaterfallScene on_canvas(const Canvas& canvas) {
    WaterfallScene scene;
    scene.canvas = {std::max(canvas.width, 320.0), std::max(canvas.height, 230.0)};
    return scene;
}

void finish(WaterfallScene& scene) {
    const double title_room = scene.canvas.width - kSide - kCorner;
    while (text_width(scene.title, kTitlePx) > title_room && scene.title.size() > 12) {
        scene.title = shortened(scene.title, scene.title.size() - 4);
    }
    place_bars(scene);
    place_legend(scene);
    const double room = scene.canvas.width - 2.0 * kSide;
    while (text_width(scene.subtitle, kFontPx) > room && scene.subtitle.size() > 12) {
        scene.subtitle = shortened(scene.subtitle, scene.subtitle.size() - 4);
    }
}

} // namespace

WaterfallScene make_waterfall(const Report& report, std::size_t index, const Canvas& canvas) {
    const LayerReport& layer = report.layers.at(index);
    WaterfallScene scene = on_canvas(canvas);
    scene.title = fmt::format("{} on {}", layer.layer.name, report.machine.name);
    scene.subtitle = fmt::format("{:.1f} % of {} per cycle{}", 100.0 * layer.utilization,
                                 model::format_si(units_of(report.machine, layer), "MAC", 4),
                                 layer.limiter.empty() ? "" : "; limited by " + layer.limiter);
    scene.bars.push_back(all_units(units_of(report.machine, layer)));
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        scene.bars.push_back(step_bar(report, layer, step));
        const WaterfallBar& bar = scene.bars.back();
        scene.has_gap = scene.has_gap || bar.machine > bar.mapping * (1.0 + kLeastLoss);
    }
    add_times(report, layer, scene);
    finish(scene);
    return scene;
}

WaterfallScene make_network_waterfall(const Report& report, const Canvas& canvas) {
    WaterfallScene scene = on_canvas(canvas);
    scene.title = fmt::format("{} on {}",
                              report.network_name.empty() ? report.network_id : report.network_name,
                              report.machine.name);
    scene.subtitle =
        fmt::format("{:.1f} % of {} per cycle, {} layers", 100.0 * report.total.utilization,
                    model::format_si(report.machine.units, "MAC", 4), report.layers.size());
    scene.bars.push_back(all_units(report.machine.units));
    const double ideal_s = at_peak_s(report);
    if (!(ideal_s > 0.0)) {
        finish(scene);
        return scene;
    }
    double before_s = ideal_s;
    double most_lost_s = 0.0;
    std::size_t worst = 0;
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        const NetworkStep now = network_step(report, step);
        WaterfallBar bar;
        bar.step = step;
        bar.name = fmt::format("{} {}", step, model::kStepNames[step - 1]);
        bar.before = ideal_s / before_s;
        bar.mapping = ideal_s / now.mapping_s;
        bar.machine = std::max(bar.mapping, ideal_s / now.machine_s);
        bar.value = model::format_si(bar.mapping * report.machine.units, "MAC/cycle", 4);
        bar.change = lost_text(bar.before, bar.mapping);
        bar.reason = loser_text(now, now.mapping_s - before_s, step);
        if (now.loser != nullptr) {
            bar.layer = now.loser->layer.name;
            bar.layer_row = static_cast<std::size_t>(now.loser - report.layers.data());
        }
        bar.colour = step_role(step);
        scene.has_gap = scene.has_gap || bar.machine > bar.mapping * (1.0 + kLeastLoss);
        if (now.mapping_s - before_s > most_lost_s) {
            most_lost_s = now.mapping_s - before_s;
            worst = step;
        }
        before_s = now.mapping_s;
        scene.bars.push_back(std::move(bar));
    }
    if (worst > 0) {
        scene.bars[worst].worst = true;
        scene.subtitle += fmt::format("; in this order most is lost at step {}", worst);
    }
    add_network_times(report, ideal_s, scene);
    finish(scene);
    return scene;
}

DrawnTable figures_of(const WaterfallScene& scene) {
    DrawnTable table;
    table.columns = {"step", "name", "share", "machine_share", "value", "change", "reason"};
    for (const WaterfallBar& bar : scene.bars) {
        table.rows.push_back({bar.step > 0 ? std::to_string(bar.step) : std::string{}, bar.name,
                              bar.mapping, bar.machine, bar.value, bar.change, bar.reason});
    }
    return table;
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
