#include "report/draw/waterfall_scene.hpp"

#include "analysis/exam/report_figures.hpp"
#include "base/units.hpp"
#include "report/draw/waterfall_parts.hpp"
#include "report/measured/measured_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::report {

std::string lost_text(double before, double after) {
    const double lost = before > 0.0 ? 1.0 - after / before : 0.0;
    return lost < kLeastLoss ? std::string{} : fmt::format("−{:.1f} %", 100.0 * lost);
}

double macs_of(const analysis::LayerReport& layer) {
    const analysis::WorkFigure work = analysis::work_of(layer);
    return layer.macs > 0 ? work.amount : work.amount / 2.0;
}

WaterfallBar time_bar(double ideal_s, const char* name, double time_s, double before) {
    WaterfallBar bar;
    bar.name = name;
    bar.before = before;
    bar.mapping = std::min(1.0, ideal_s / time_s);
    bar.machine = bar.mapping;
    bar.value = format_si(time_s, "s", 4);
    bar.change = lost_text(before, bar.mapping);
    bar.colour = ColourRole::text;
    return bar;
}

std::string time_change(double unexplained_s, double predicted_s) {
    const double share = predicted_s > 0.0 ? unexplained_s / predicted_s : 0.0;
    return std::abs(share) < kLeastLoss ? std::string{}
                                        : signed_share(unexplained_s, predicted_s) + " time";
}

std::string unexplained_text(double unexplained_s, double predicted_s) {
    return fmt::format("unexplained: {} ({}) of the prediction", signed_time(unexplained_s),
                       signed_share(unexplained_s, predicted_s));
}

WaterfallBar all_units(const analysis::Report& report, double units) {
    WaterfallBar all;
    const bool pes = report.machine.kind == "accelerator";
    all.name = pes ? "all PEs" : "all MAC lanes";
    all.value = format_si(units, "MAC/cycle", 4);
    all.reason = pes ? "every PE does one MAC per cycle" : "every lane does one MAC per cycle";
    all.colour = ColourRole::text;
    return all;
}

namespace {

WaterfallBar step_bar(const analysis::Report& report, const analysis::LayerReport& layer,
                      std::size_t step) {
    const double units = analysis::units_of(report.machine, layer);
    const model::StepBound& bound = layer.steps[step - 1];
    WaterfallBar bar;
    bar.step = step;
    bar.name = fmt::format("{} {}", step, model::kStepNames[step - 1]);
    bar.before = analysis::share_after(layer.steps, units, step - 1);
    bar.mapping = analysis::share_after(layer.steps, units, step);
    bar.machine = std::max(bar.mapping, analysis::share_after(layer.machine_steps, units, step));
    bar.value = format_si(bound.macs_per_cycle, "MAC/cycle", 4);
    bar.change = lost_text(bar.before, bar.mapping);
    bar.reason = bound.reason.empty() ? bound.limit : bound.reason;
    const std::size_t saves = layer.limits.saves_most();
    bar.worst = step == (saves > 0 ? saves : layer.limiter_step) && !bar.change.empty();
    bar.colour = step_role(step);
    return bar;
}

void add_times(const analysis::Report& report, const analysis::LayerReport& layer,
               WaterfallScene& scene) {
    if (!(layer.time_s > 0.0) || !(report.machine.clock_hz > 0.0)) {
        return;
    }
    const double ideal_s =
        macs_of(layer) / (analysis::units_of(report.machine, layer) * report.machine.clock_hz);
    scene.bars.push_back(time_bar(ideal_s, "predicted", layer.time_s, scene.bars.back().mapping));
    scene.bars.back().reason = "with everything that the layer waits for";
    if (!layer.measured || !(layer.measured->time_s > 0.0)) {
        return;
    }
    const analysis::LayerMeasurement& m = *layer.measured;
    WaterfallBar bar = time_bar(ideal_s, kMeasuredName, m.time_s, scene.bars.back().mapping);
    bar.change = time_change(m.unexplained_s, m.predicted_s);
    bar.reason = unexplained_text(m.unexplained_s, m.predicted_s) + "; " + main_disagreement(m);
    scene.bars.push_back(std::move(bar));
}

} // namespace

WaterfallScene make_waterfall(const analysis::Report& report, std::size_t index,
                              const Canvas& canvas) {
    const analysis::LayerReport& layer = report.layers.at(index);
    WaterfallScene scene = ladder_on(canvas);
    scene.title = fmt::format("{} on {}", layer.layer.name, report.machine.name);
    scene.subtitle =
        fmt::format("{:.1f} % of {}{}", 100.0 * layer.utilization,
                    format_si(analysis::units_of(report.machine, layer), "MAC/cycle", 4),
                    layer.limiter.empty() ? "" : "; bound by " + layer.limiter);
    scene.bars.push_back(all_units(report, analysis::units_of(report.machine, layer)));
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        scene.bars.push_back(step_bar(report, layer, step));
        const WaterfallBar& bar = scene.bars.back();
        scene.has_gap = scene.has_gap || bar.machine > bar.mapping * (1.0 + kLeastLoss);
    }
    add_times(report, layer, scene);
    place_ladder(scene);
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

} // namespace eyeroof::report
