#include "analysis/what_if/sensitivity.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/program/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Network;

namespace {

constexpr double kNoticeable = 1.001;

// What a step leaves of the one before it.
double kept(const model::Chain& chain, std::size_t step) {
    return step == 1 ? chain[0].macs_per_cycle
                     : chain[step - 1].macs_per_cycle / chain[step - 2].macs_per_cycle;
}

constexpr std::size_t kUnitSteps = 5; // steps 6 and 7 are transfers

// Seconds that transfers take beside the units' own, up to step 6 or 7. Both count from step 5: a
// machine on which what step 7 added is step 6's has gained nothing.
double transfer_s(const Report& report, std::size_t step) {
    const LayerReport& layer = report.layers.front();
    return seconds_at(report.machine, layer, step) - seconds_at(report.machine, layer, kUnitSteps);
}

// How much better a step is on another machine: ln of what it keeps, of transfers the share of
// their seconds that goes.
double effect_on(const Report& before, const Report& after, std::size_t step) {
    if (step <= kUnitSteps) {
        return std::log(kept(after.layers[0].steps, step) / kept(before.layers[0].steps, step));
    }
    const double then = transfer_s(before, step);
    return then > 0.0 ? (then - transfer_s(after, step)) / then : 0.0;
}

// The parameter that a step's limit names itself: "axis y", "psum network" as "psum network
// bandwidth".
const Parameter* named_by(const std::string& limit, const std::vector<Parameter>& parameters) {
    for (const Parameter& parameter : parameters) {
        if (parameter.name == limit || parameter.name == limit + " bandwidth") {
            return &parameter;
        }
    }
    return nullptr;
}

Network only(const model::Layer& layer) {
    Network network;
    network.id = network.name = layer.name;
    network.layers = {layer};
    return network;
}

} // namespace

namespace {

using Gains = Result<std::vector<Sensitivity>>;

Gains sensitivities(const Trials& trials, const ProgressCallback& progress) {
    std::vector<Sensitivity> all;
    const auto parameters = tried_parameters(trials.question().machine);
    for (const Parameter& parameter : parameters) {
        if (progress) {
            progress({static_cast<double>(&parameter - parameters.data()) /
                          static_cast<double>(parameters.size()),
                      "10 % more " + parameter.name, 0.0, -1.0});
        }
        const double value = turned_value(parameter, kSensitivityFactor);
        const auto speedup = trials.speedup(parameter, value);
        if (trials.stopped()) {
            return Gains::failure("cancelled", "cancelled");
        }
        if (speedup) {
            all.push_back({parameter.key, parameter.name, value / parameter.value, *speedup});
        }
    }
    return Gains(std::move(all));
}

} // namespace

Result<std::vector<Sensitivity>> sensitivities(const Question& asked, std::stop_token stop,
                                               const ProgressCallback& progress, Examine examine) {
    const auto trials = Trials::of(asked, std::move(stop), std::move(examine));
    return trials ? sensitivities(*trials, progress) : Gains(trials.diagnostics());
}

Result<LayerHelp> help_for(const model::Layer& layer, const Question& asked, std::stop_token stop,
                           Examine examine) {
    const auto trials =
        Trials::of(question_of_lowered(asked, only(layer)), std::move(stop), std::move(examine));
    auto gains = trials ? sensitivities(*trials, {}) : Gains(trials.diagnostics());
    if (!gains) {
        return Result<LayerHelp>(gains.diagnostics());
    }
    LayerHelp help;
    help.gains = *std::move(gains);
    std::stable_sort(help.gains.begin(), help.gains.end(),
                     [](const auto& a, const auto& b) { return a.speedup > b.speedup; });
    std::array<double, model::kSteps> most{};
    most.fill(std::log(kNoticeable));
    const model::Chain& before = trials->now().layers[0].steps;
    const auto parameters = tried_parameters(trials->question().machine);
    for (const Parameter& parameter : parameters) {
        const auto after = trials->with({{parameter.key, turned_value(parameter, kDoubled)}});
        for (std::size_t step = 1; after && step <= model::kSteps; ++step) {
            const double effect = effect_on(trials->now(), *after, step);
            if (effect > most[step - 1]) {
                most[step - 1] = effect;
                help.behind[step - 1] = parameter.key;
            }
        }
    }
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        if (const Parameter* named = named_by(before[step - 1].limit, parameters)) {
            help.behind[step - 1] = named->key;
        }
    }
    return Result<LayerHelp>(std::move(help));
}

std::string best_help_text(const std::vector<Sensitivity>& gains) {
    const auto best =
        std::max_element(gains.begin(), gains.end(),
                         [](const auto& a, const auto& b) { return a.speedup < b.speedup; });
    if (best == gains.end() || best->speedup < kNoticeable) {
        return {};
    }
    return fmt::format("{:.0f} % more {} makes it {:.1f} % faster", 100.0 * (best->factor - 1.0),
                       best->name, 100.0 * (best->speedup - 1.0));
}

} // namespace eyeroof::analysis
