#include "report/tune/report.hpp"

#include "base/csv.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "report/draw/chart.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::report {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::array<const char*, 7> kStepNames = {
    "workload", "dataflow",          "number of lanes",        "physical dimensions",
    "storage",  "average bandwidth", "instantaneous bandwidth"};

double gflops(const analysis::tune::Workload& work, double seconds) {
    return work.flops() / seconds / 1e9;
}

// The best's time: measured beside others in the end where that was done.
double best_s(const analysis::tune::Tuned& layer) {
    return layer.again_s > 0.0 ? layer.again_s : layer.best->outcome.cost;
}

std::size_t failures(const analysis::tune::Tuned& layer) {
    return static_cast<std::size_t>(
        std::count_if(layer.trials.begin(), layer.trials.end(),
                      [](const analysis::tune::Trial& trial) { return !trial.outcome.ok(); }));
}

std::string time_text(double seconds) {
    return seconds < 1e-3 ? fmt::format("{:.4g} us", seconds * 1e6)
                          : fmt::format("{:.4g} ms", seconds * 1e3);
}

std::string steps_text(const analysis::tune::Tuned& layer,
                       const analysis::tune::TuneResult& result) {
    const double units = result.clock_hz;
    std::string text;
    for (std::size_t step = 2; step < kStepNames.size(); ++step) {
        text += fmt::format("      {} {:<24} {:>8.2f} GFLOP/s{}\n", step + 1, kStepNames[step],
                            2.0 * layer.what.bound[step] * units / 1e9,
                            step == layer.what.limiter ? "  <- largest loss" : "");
    }
    return text;
}

std::string layer_text(const analysis::tune::Tuned& layer, const analysis::tune::TuneResult& result,
                       bool details) {
    const std::string name = printable(layer.work.name);
    if (!layer.best) {
        return fmt::format("{:<14} all {} trials failed\n", name, layer.trials.size());
    }
    std::string text = fmt::format(
        "{:<14} {:>10} {:>9.2f} GFLOP/s  {:>5} trials{}  {}\n", name, time_text(best_s(layer)),
        gflops(layer.work, best_s(layer)), layer.trials.size(),
        failures(layer) > 0 ? fmt::format(", {} failed", failures(layer)) : "", layer.what.text);
    if (layer.again_s > 0.0) {
        text += fmt::format("{:<14} remeasured with the runners-up; in its trial: {:.2f} GFLOP/s\n",
                            "", gflops(layer.work, layer.best->outcome.cost));
    }
    if (!details) {
        return text;
    }
    text +=
        fmt::format("    space: {} points{}{}{}\n", layer.space,
                    layer.valid ? fmt::format(", {} valid", *layer.valid) : "",
                    layer.seconds > 0.0 ? fmt::format("; trials took {:.3g} s", layer.seconds) : "",
                    layer.recalled > 0 ? fmt::format(", {} from the log", layer.recalled) : "");
    text += fmt::format("    the closed form predicts {} for it and prefers {} ({})\n",
                        time_text(layer.what.seconds), layer.preferred.text,
                        time_text(layer.preferred.seconds));
    for (const double share : {0.9, 0.95, 0.99}) {
        const auto at =
            analysis::tune::trials_to(layer.trials, analysis::tune::best_cost(layer.trials), share);
        text += fmt::format("    {:.0f} % of its best after {} trial{}\n", 100 * share, *at,
                            *at == 1 ? "" : "s");
    }
    return text + "    bounds of the best, by closed form:\n" + steps_text(layer, result);
}

// Seconds with a share of the whole behind it.
std::string part_text(double seconds, double whole) {
    return fmt::format("{:>11} {:>5.1f} %", time_text(seconds), 100.0 * seconds / whole);
}

std::string network_text(const analysis::tune::EndToEnd& n) {
    using Step = analysis::tune::EndToEnd::Step;
    const double tuned_s = n.steps_s(&Step::tuned_s), library_s = n.steps_s(&Step::library_s);
    std::string text = fmt::format(
        "\nwhole network: {} of {} alternating runs of each, {}\n{:<16} {:>19} {:>19}  {}\n",
        n.least ? "least" : "median", n.runs,
        n.threads == 1 ? "one thread" : fmt::format("{} threads", n.threads), "step", "tuned",
        n.library, "library / tuned");
    for (const Step& step : n.steps) {
        text += fmt::format("{:<16} {} {}  {:>7.2f}\n", printable(step.name),
                            part_text(step.tuned_s, tuned_s), part_text(step.library_s, library_s),
                            step.library_s / step.tuned_s);
    }
    text += fmt::format("{:<16} {} {}  {:>7.2f}\n", "sum of the steps", part_text(tuned_s, tuned_s),
                        part_text(library_s, library_s), library_s / tuned_s);
    text += fmt::format("{:<16} {:>11} {:>19}  {:>15.2f}\n", "end to end", time_text(n.tuned_s),
                        time_text(n.library_s), n.library_s / n.tuned_s);
    const bool faster = n.tuned_s <= n.library_s;
    return text + fmt::format("\nThe tuned network is {:.2f}x as {} as {}. Its GEMMs take {:.1f} % "
                              "of its steps.\nResults differ by {:.1e} of the largest value. Only "
                              "softmax and additions are the same code.\n",
                              faster ? n.library_s / n.tuned_s : n.tuned_s / n.library_s,
                              faster ? "fast" : "slow", n.library, 100.0 * n.kernel_share(),
                              n.difference);
}

Json network_json(const analysis::tune::EndToEnd& n) {
    constexpr std::array<const char*, 5> kinds = {"product", "max pooling", "mean pooling",
                                                  "pointwise", "softmax"};
    using Step = analysis::tune::EndToEnd::Step;
    const double tuned_s = n.steps_s(&Step::tuned_s), library_s = n.steps_s(&Step::library_s);
    Json steps = Json::array();
    for (const Step& step : n.steps) {
        steps.push_back({{"name", step.name},
                         {"kind", kinds[static_cast<std::size_t>(step.kind)]},
                         {"tuned_s", step.tuned_s},
                         {"library_s", step.library_s},
                         {"tuned_share", step.tuned_s / tuned_s},
                         {"library_share", step.library_s / library_s}});
    }
    return {{"library", n.library},
            {"threads", n.threads},
            {"runs", n.runs},
            {"statistic", n.least ? "least" : "median"},
            {"tuned_s", n.tuned_s},
            {"library_s", n.library_s},
            {"library_over_tuned", n.library_s / n.tuned_s},
            {"difference", n.difference},
            {"product_share", n.kernel_share()},
            {"steps", steps}};
}

Json plan_json(const analysis::tune::Described& what,
               const std::vector<std::pair<std::string, Count>>& knobs) {
    Json json = {{"text", what.text}};
    for (const auto& [name, value] : knobs) {
        json[name] = value;
    }
    return json;
}

Json layer_json(const analysis::tune::Tuned& layer) {
    Json json = {{"layer", layer.work.name},          {"macs", layer.work.macs()},
                 {"template", layer.template_name},   {"space_points", layer.space},
                 {"trials", layer.trials.size()},     {"failed_trials", failures(layer)},
                 {"recalled_trials", layer.recalled}, {"search_s", layer.seconds},
                 {"stopped", layer.stopped},          {"exhausted", layer.exhausted}};
    if (layer.valid) {
        json["valid_points"] = *layer.valid;
    }
    if (layer.best) {
        json["best"] = {{"time_s", best_s(layer)},
                        {"gflops_per_s", gflops(layer.work, best_s(layer))},
                        {"measured_again", layer.again_s > 0.0},
                        {"plan", plan_json(layer.what, layer.knobs)},
                        {"predicted_s", layer.what.seconds},
                        {"bound_macs_per_cycle", layer.what.bound},
                        {"limiting_step", layer.what.limiter + 1}};
    }
    json["predicted_best"] = {{"time_s", layer.preferred.seconds},
                              {"plan", plan_json(layer.preferred, layer.preferred_knobs)}};
    Json curve = Json::array();
    double best = analysis::tune::kNoCost;
    for (std::size_t n = 0; n < layer.trials.size(); ++n) {
        const analysis::tune::Trial& trial = layer.trials[n];
        if (trial.outcome.ok() && trial.outcome.cost < best) {
            best = trial.outcome.cost;
            curve.push_back({{"trial", n + 1}, {"best_s", best}, {"at_s", trial.at_s}});
        }
    }
    json["curve"] = curve;
    return json;
}

} // namespace

std::string tune_text(const analysis::tune::TuneResult& result, bool details) {
    const std::string flags = result.toolchain.flags.empty() ? "" : ", " + result.toolchain.flags;
    std::string text = result.target != "model"
                           ? fmt::format("Target: {} ({}{})\n", printable(result.machine),
                                         printable(result.toolchain.compiler), printable(flags))
                           : std::string("Target: synthetic closed-form model, no machine\n");
    text += fmt::format("Search: {}\n\n", result.search);
    for (const analysis::tune::Tuned& layer : result.layers) {
        text += layer_text(layer, result, details);
    }
    text += result.network ? network_text(*result.network) : "";
    return text + (result.stopped ? "\nStopped early; the results are the best so far.\n" : "");
}

std::string tune_json(const analysis::tune::TuneResult& result) {
    Json layers = Json::array();
    for (const analysis::tune::Tuned& layer : result.layers) {
        layers.push_back(layer_json(layer));
    }
    Json json = {{"schema", "eyeroof/tune/1"},      {"target", result.target},
                 {"machine", result.machine},       {"compiler", result.toolchain.compiler},
                 {"flags", result.toolchain.flags}, {"search", result.search},
                 {"stopped", result.stopped},       {"layers", layers}};
    if (result.network) {
        json["network"] = network_json(*result.network);
    }
    return json_document(json);
}

std::string tune_csv(const analysis::tune::TuneResult& result) {
    std::string text = "layer,trial,round,time_s,best_s,error,at_s\n";
    for (const analysis::tune::Tuned& layer : result.layers) {
        double best = analysis::tune::kNoCost;
        for (std::size_t n = 0; n < layer.trials.size(); ++n) {
            const analysis::tune::Trial& trial = layer.trials[n];
            best = trial.outcome.ok() ? std::min(best, trial.outcome.cost) : best;
            const auto number = [](bool there, double value) {
                return there ? fmt::format("{}", value) : std::string();
            };
            text += fmt::format("{},{},{},{},{},{},{:.6g}\n", csv_quoted(layer.work.name), n + 1,
                                trial.round, number(trial.outcome.ok(), trial.outcome.cost),
                                number(best < analysis::tune::kNoCost, best), trial.outcome.error,
                                trial.at_s);
        }
    }
    return text;
}

std::string tune_svg(const analysis::tune::TuneResult& result) {
    Chart chart;
    chart.title = "Best so far against trials: " + result.search;
    chart.x_title = "trials";
    chart.x_ticks = TickText::whole;
    chart.y_title = "FLOP/s";
    for (const analysis::tune::Tuned& layer : result.layers) {
        ChartLine line;
        line.label = layer.work.name;
        line.stairs = true;
        double best = analysis::tune::kNoCost;
        for (std::size_t n = 0; n < layer.trials.size(); ++n) {
            const analysis::tune::Trial& trial = layer.trials[n];
            if (trial.outcome.ok() && (trial.outcome.cost < best || n + 1 == layer.trials.size())) {
                best = std::min(best, trial.outcome.cost);
                line.points.emplace_back(static_cast<double>(n + 1), layer.work.flops() / best);
            }
        }
        if (!line.points.empty()) {
            chart.lines.push_back(std::move(line));
        }
    }
    return chart_svg(chart);
}

} // namespace eyeroof::report
