#include "study/draw/waterfall_scene.hpp"

#include "model/base/units.hpp"
#include "study/exam/report_figures.hpp"
#include "study/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

namespace {

constexpr double kMargin = 16.0;
constexpr double kHeading = 54.0;
constexpr double kBelow = 4.0;
constexpr double kCorner = 150.0; // right of the title, where the window has its switch
constexpr double kNarrow = 760.0;
constexpr double kReasonPx = 11.0;
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
    bar.colour = series_role(step - 1);
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

// "3.67 MMAC/cycle" as "3.67 M": the heading says the unit once, the bars get the room.
void drop_units(WaterfallScene& scene) {
    constexpr std::string_view unit = "MAC/cycle";
    for (WaterfallBar& bar : scene.bars) {
        if (bar.value.ends_with(unit)) {
            bar.value.resize(bar.value.size() - unit.size());
            while (bar.value.ends_with(' ')) {
                bar.value.pop_back();
            }
        }
    }
    const std::string told = scene.subtitle + "; in MAC/cycle";
    scene.subtitle =
        text_width(told, kFontPx) < scene.canvas.width - 2.0 * kMargin ? told : scene.subtitle;
}

void place_bars(WaterfallScene& scene) {
    const double width = scene.canvas.width;
    if (width < kNarrow) {
        drop_units(scene);
    }
    double names = 0.0;
    double values = 0.0;
    for (const WaterfallBar& bar : scene.bars) {
        names = std::max(names, text_width(bar.name, kFontPx));
        values = std::max(values, text_width(bar.value, kFontPx));
    }
    const double change = text_width("−99.9 %", kFontPx);
    const bool narrow = width < kNarrow; // no room for sentences beside the bars
    const double left = kMargin + names + 12.0;
    const double free = width - left - values - change - 3.0 * 12.0 - kMargin;
    const double bars_width = std::max(60.0, narrow ? free : free * 0.5);
    scene.name_x = kMargin;
    scene.bars_area = {left, kHeading, bars_width, scene.canvas.height - kHeading - kBelow};
    scene.value_x = left + bars_width + change + 12.0 + values;
    scene.reason_x = narrow ? width : scene.value_x + 14.0;
    const double row =
        std::clamp(scene.bars_area.height / static_cast<double>(scene.bars.size()), 15.0, 52.0);
    scene.canvas.height = std::min(
        scene.canvas.height, kHeading + row * static_cast<double>(scene.bars.size()) + kBelow);
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

namespace {

WaterfallScene on_canvas(const Canvas& canvas) {
    WaterfallScene scene;
    scene.canvas = {std::max(canvas.width, 320.0), std::max(canvas.height, 200.0)};
    return scene;
}

void finish(WaterfallScene& scene) {
    const double title_room = scene.canvas.width - kMargin - kCorner;
    while (text_width(scene.title, kTitlePx) > title_room && scene.title.size() > 12) {
        scene.title = shortened(scene.title, scene.title.size() - 4);
    }
    const char* note = "; pale: what a better mapping could reach";
    const double room = scene.canvas.width - 2.0 * kMargin;
    scene.note = scene.has_gap && text_width(scene.subtitle + note, kFontPx) <= room ? note : "";
    place_bars(scene);
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
        bar.colour = series_role(step - 1);
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
