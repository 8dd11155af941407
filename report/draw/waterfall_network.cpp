#include "analysis/exam/report_figures.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/ascii.hpp"
#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/draw/waterfall_parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

// All layers at the peak of the units that serve them.
double at_peak_s(const analysis::Report& report) {
    double seconds = 0.0;
    for (const analysis::LayerReport& layer : report.layers) {
        const double rate = analysis::units_of(report.machine, layer) * report.machine.clock_hz;
        seconds +=
            rate > 0.0 ? macs_of(layer) * static_cast<double>(layer.layer.count) / rate : 0.0;
    }
    return seconds;
}

// What a step leaves of the whole network.
struct NetworkStep {
    double mapping_s = 0.0, machine_s = 0.0; // all layers at their bounds
    double most_lost_s = 0.0;
    const analysis::LayerReport* loser = nullptr; // loses most at this step
};

NetworkStep network_step(const analysis::Report& report, std::size_t step) {
    NetworkStep sum;
    for (const analysis::LayerReport& layer : report.layers) {
        const double units = analysis::units_of(report.machine, layer);
        const double per_second = units * report.machine.clock_hz;
        const double ideal_s = macs_of(layer) * static_cast<double>(layer.layer.count) / per_second;
        const double share = analysis::share_after(layer.steps, units, step);
        const double before = analysis::share_after(layer.steps, units, step - 1);
        if (!(ideal_s > 0.0) || !(share > 0.0)) {
            continue;
        }
        const double lost_s = ideal_s / share - ideal_s / before;
        sum.mapping_s += ideal_s / share;
        sum.machine_s +=
            ideal_s / std::max(share, analysis::share_after(layer.machine_steps, units, step));
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
    return fmt::format("{} lost, {:.0f} % of it in {}: {}", format_si(lost_s, "s", 3),
                       100.0 * now.most_lost_s / lost_s, now.loser->layer.name,
                       bound.reason.empty() ? bound.limit : bound.reason);
}

WaterfallBar network_bar(const analysis::Report& report, std::size_t step, const NetworkStep& now,
                         double ideal_s, double before_s) {
    WaterfallBar bar;
    bar.step = step;
    bar.name = fmt::format("{} {}", step, model::kStepNames[step - 1]);
    bar.before = ideal_s / before_s;
    bar.mapping = ideal_s / now.mapping_s;
    bar.machine = std::max(bar.mapping, ideal_s / now.machine_s);
    bar.value = format_si(bar.mapping * report.machine.units, "MAC/cycle", 4);
    bar.change = lost_text(bar.before, bar.mapping);
    bar.reason = loser_text(now, now.mapping_s - before_s, step);
    if (now.loser != nullptr) {
        bar.layer = now.loser->layer.name;
        bar.layer_row = static_cast<std::size_t>(now.loser - report.layers.data());
    }
    bar.colour = step_role(step);
    return bar;
}

// Time of the step in which no kernel of a layer does its work.
struct StepWait {
    const char* name = "";
    double seconds = 0.0;
    std::string reason;
    std::string parameter;
};

// Those of a step on a GPU after its kernels' seconds; none elsewhere.
std::vector<StepWait> waits_of(const analysis::Report& report, double kernels_s) {
    const analysis::step::Timeline& t = report.timeline;
    if (t.spans.empty() || report.machine.kind != "gpu") {
        return {};
    }
    std::vector<StepWait> waits;
    if (t.host_s > 0.0) {
        waits.push_back(
            {"CPU launches", t.wait_host_s,
             fmt::format("no kernel runs, and the next is not launched yet: {} of {} of "
                         "launches",
                         format_si(t.wait_host_s, "s", 3), format_si(t.host_s, "s", 3)),
             "host-speed"});
    }
    if (const double copies_s = t.wait_copy_s + t.end_s; copies_s > 0.0) {
        waits.push_back({"copies", copies_s,
                         "no kernel runs until copies between host and device are done", ""});
    }
    double rest_s = report.total.time_s - kernels_s;
    for (const StepWait& wait : waits) {
        rest_s -= wait.seconds;
    }
    if (rest_s > kLeastLoss * report.total.time_s) {
        waits.push_back({"other waits", rest_s,
                         "starts and ends of kernels, and work beside their layers' steps", ""});
    }
    return waits;
}

// Where the longest wait stands, where it is longer than what any step takes.
std::optional<std::size_t> add_waits(const analysis::Report& report, double ideal_s,
                                     double kernels_s, double most_s, WaterfallScene& scene) {
    std::optional<std::size_t> worst;
    double until_s = kernels_s;
    for (const StepWait& wait : waits_of(report, kernels_s)) {
        until_s += wait.seconds;
        WaterfallBar bar = time_bar(ideal_s, wait.name, until_s, scene.bars.back().mapping);
        bar.value = format_si(wait.seconds, "s", 3);
        bar.reason = wait.reason;
        bar.parameter = wait.parameter;
        if (wait.seconds > most_s) {
            most_s = wait.seconds;
            worst = scene.bars.size();
        }
        scene.bars.push_back(std::move(bar));
    }
    return worst;
}

// "bound by CPU launch overhead": as every view says it.
std::string bound_of(const analysis::Report& report) {
    std::string text = analysis::bound_by_text(*report.headline);
    text[0] = lowered(text[0]);
    return text;
}

void add_network_times(const analysis::Report& report, double ideal_s, WaterfallScene& scene) {
    scene.bars.push_back(
        time_bar(ideal_s, "predicted", report.total.time_s, scene.bars.back().mapping));
    scene.bars.back().reason = "with everything that the layers wait for";
    if (!report.measured || report.measured->layers == 0) {
        return;
    }
    const analysis::Measurement& m = *report.measured;
    if (report.traced) { // the whole step; what is compared of it is what every view compares
        const analysis::TracedStep& t = *report.traced;
        WaterfallBar step = time_bar(ideal_s, kMeasuredName, t.step_s, scene.bars.back().mapping);
        step.change = time_change(t.compared_s - t.predicted_s, t.predicted_s);
        step.reason = fmt::format(
            "a step of {}; kernels that can be compared take {}, predicted {}",
            format_si(t.step_s, "s"), format_si(t.compared_s, "s"), format_si(t.predicted_s, "s"));
        scene.bars.push_back(std::move(step));
        return;
    }
    WaterfallBar bar = time_bar(ideal_s, kMeasuredName, report.total.time_s + m.unexplained_s,
                                scene.bars.back().mapping);
    bar.change = time_change(m.unexplained_s, m.predicted_s);
    bar.reason = unexplained_text(m.unexplained_s, m.predicted_s) +
                 (m.layers < report.layers.size()
                      ? fmt::format(" of the {} layers that were measured, of {}", m.layers,
                                    report.layers.size())
                      : "");
    scene.bars.push_back(std::move(bar));
}

} // namespace

WaterfallScene make_network_waterfall(const analysis::Report& report, const Canvas& canvas) {
    WaterfallScene scene = ladder_on(canvas);
    scene.title = fmt::format("{} on {}",
                              report.network_name.empty() ? report.network_id : report.network_name,
                              report.machine.name);
    const std::string of_peak = fmt::format("{:.1f} % of {}", 100.0 * report.total.utilization,
                                            format_si(report.machine.units, "MAC/cycle", 4));
    scene.subtitle = of_peak + ", " + counted(report.layers.size(), "layer");
    scene.bars.push_back(all_units(report, report.machine.units));
    const double ideal_s = at_peak_s(report);
    if (!(ideal_s > 0.0)) {
        place_ladder(scene);
        return scene;
    }
    double before_s = ideal_s;
    double most_lost_s = 0.0;
    std::size_t worst = 0;
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        const NetworkStep now = network_step(report, step);
        const WaterfallBar bar = network_bar(report, step, now, ideal_s, before_s);
        scene.has_gap = scene.has_gap || bar.machine > bar.mapping * (1.0 + kLeastLoss);
        if (now.mapping_s - before_s > most_lost_s) {
            most_lost_s = now.mapping_s - before_s;
            worst = step;
        }
        before_s = now.mapping_s;
        scene.bars.push_back(bar);
    }
    const auto wait = add_waits(report, ideal_s, before_s, most_lost_s, scene);
    if (worst > 0 || wait) {
        scene.bars[wait.value_or(worst)].worst = true;
    }
    const bool found = report.headline && !report.headline->resource.empty();
    if (found || worst > 0) {
        const std::string most =
            found ? bound_of(report) : fmt::format("most is lost at step {}", worst);
        scene.subtitle += found ? "; " + most : "; in this order " + most;
        if (text_width(scene.subtitle, kFontPx) > scene.canvas.width - 2.0 * kLadderSide) {
            scene.subtitle = of_peak + "; " + most;
        }
    }
    add_network_times(report, ideal_s, scene);
    place_ladder(scene);
    return scene;
}

} // namespace eyeroof::report
