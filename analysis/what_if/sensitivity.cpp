#include "analysis/what_if/sensitivity.hpp"

#include "analysis/program/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Machine;
using model::Network;

namespace {

constexpr double kDoubled = 2.0;
constexpr double kNoticeable = 1.001;

struct Turned {
    Machine machine;
    double factor = 1.0;
};

std::optional<Turned> turned(const Machine& machine, const Knob& knob, double factor) {
    double value = knob.value * factor;
    if (knob.whole) {
        value = std::max(std::round(value), knob.value + 1.0);
    }
    auto result = changed(machine, std::vector<Change>{{knob.key, value}});
    return result ? std::optional(Turned{*std::move(result), value / knob.value}) : std::nullopt;
}

// What a step leaves of the one before it.
double kept(const model::Chain& chain, std::size_t step) {
    return step == 1 ? chain[0].macs_per_cycle
                     : chain[step - 1].macs_per_cycle / chain[step - 2].macs_per_cycle;
}

// The knob that a step's limit names itself: "y axis" is "axis y", "psum network" is "psum network
// bandwidth".
const Knob* named_by(const std::string& limit, const std::vector<Knob>& knobs) {
    constexpr std::string_view axis = " axis";
    const std::string turned_round =
        limit.ends_with(axis) ? "axis " + limit.substr(0, limit.size() - axis.size()) : limit;
    for (const Knob& knob : knobs) {
        if (knob.name == turned_round || knob.name == limit + " bandwidth") {
            return &knob;
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

// A search for every machine that is tried would take minutes, and its answers differ by what it
// finds in its time: both sides take the dataflow's own mapping.
Question without_search(Question question) {
    MappingPolicy& policy = question.scenario.policy;
    if (policy == MappingPolicy::best || policy == MappingPolicy::automatic) {
        policy = MappingPolicy::dataflow;
    }
    return question;
}

namespace {

Result<Report> run_on(Question question, const Machine& machine, const std::stop_token& stop) {
    question.machine = machine;
    return run(question, stop);
}

} // namespace

Result<std::vector<Sensitivity>> sensitivities(const Question& asked, std::stop_token stop,
                                               const ProgressCallback& progress) {
    const Question question = without_search(asked);
    const auto before = run(question, stop);
    if (!before) {
        return Result<std::vector<Sensitivity>>(before.diagnostics());
    }
    std::vector<Sensitivity> all;
    const auto knobs = tried_knobs(question.machine);
    for (const Knob& knob : knobs) {
        if (progress) {
            progress({static_cast<double>(&knob - knobs.data()) / static_cast<double>(knobs.size()),
                      "10 % more " + knob.name, 0.0, -1.0});
        }
        const auto other = turned(question.machine, knob, kSensitivityFactor);
        const auto after = other ? run_on(question, other->machine, stop)
                                 : Result<Report>::failure("not-legal", "");
        if (stop.stop_requested()) {
            return Result<std::vector<Sensitivity>>::failure("cancelled", "cancelled");
        }
        if (after) {
            all.push_back(
                {knob.key, knob.name, other->factor, before->total.time_s / after->total.time_s});
        }
    }
    return Result<std::vector<Sensitivity>>(std::move(all));
}

Result<LayerHelp> help_for(const model::Layer& layer, const Question& asked, std::stop_token stop) {
    const Question question = without_search(question_of_lowered(asked, only(layer)));
    const Machine& machine = question.machine;
    const auto before = run(question, stop);
    auto gains = sensitivities(question, stop);
    if (!before || !gains) {
        return Result<LayerHelp>(before ? gains.diagnostics() : before.diagnostics());
    }
    LayerHelp help;
    help.gains = *std::move(gains);
    std::stable_sort(help.gains.begin(), help.gains.end(),
                     [](const auto& a, const auto& b) { return a.speedup > b.speedup; });
    std::array<double, model::kSteps> most{};
    most.fill(std::log(kNoticeable));
    const auto knobs = tried_knobs(machine);
    for (const Knob& knob : knobs) {
        const auto other = turned(machine, knob, kDoubled);
        const auto after = other ? run_on(question, other->machine, stop)
                                 : Result<Report>::failure("not-legal", "");
        for (std::size_t step = 1; after && step <= model::kSteps; ++step) {
            const double effect =
                std::log(kept(after->layers[0].steps, step) / kept(before->layers[0].steps, step));
            if (effect > most[step - 1]) {
                most[step - 1] = effect;
                help.behind[step - 1] = knob.key;
            }
        }
    }
    for (std::size_t step = 1; step <= model::kSteps; ++step) {
        if (const Knob* named = named_by(before->layers[0].steps[step - 1].limit, knobs)) {
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
