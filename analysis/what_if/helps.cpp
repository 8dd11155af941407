#include "analysis/what_if/helps.hpp"

#include "analysis/what_if/knobs.hpp"
#include "analysis/what_if/sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

constexpr std::array kTried = {1.1, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0};
constexpr double kMostOfCounts = 4.0;
constexpr double kMostTries = 24.0;

// One network on variants of one machine.
class Trials {
  public:
    Trials(const Question& question, std::stop_token stop)
        : question_(question), stop_(std::move(stop)) {}

    Result<Report> now() const { return run(question_, stop_); }

    // Speed-up with the knob at that value; 1 where the machine is then not legal.
    double gain(const Knob& knob, double value, double before_s) const {
        auto other = changed(question_.machine, std::vector<Change>{{knob.key, value}});
        if (!other) {
            return 1.0;
        }
        Question turned = question_;
        turned.machine = *std::move(other);
        const auto after = run(turned, stop_);
        return after && after->total.time_s > 0.0 ? before_s / after->total.time_s : 1.0;
    }
    bool stopped() const { return stop_.stop_requested(); }

  private:
    const Question& question_;
    std::stop_token stop_;
};

double turned_value(const Knob& knob, double factor) {
    const double value = knob.value * factor;
    return knob.whole ? std::max(std::round(value), knob.value + 1.0) : value;
}

// Values to try for the next that helps, smallest first.
std::vector<double> steps_of(const Knob& knob) {
    std::vector<double> values;
    if (knob.whole && knob.value * (kMostOfCounts - 1.0) <= kMostTries) {
        for (double v = knob.value + 1.0; v <= knob.value * kMostOfCounts; v += 1.0) {
            values.push_back(v);
        }
        return values;
    }
    for (const double factor : kTried) {
        values.push_back(turned_value(knob, factor));
    }
    return values;
}

void find_next(const Trials& trials, const Knob& knob, double before_s, ParameterHelp& help) {
    for (const double value : steps_of(knob)) {
        const double gain = trials.stopped() ? 1.0 : trials.gain(knob, value, before_s);
        if (gain >= kHelps) {
            help.next = value_text(knob, value);
            help.with_next = gain;
            return;
        }
    }
}

void add_counterfactuals(const Report& report, Helps& helps) {
    for (const LayerReport& layer : report.layers) {
        for (std::size_t k = 0; k < model::kSteps; ++k) {
            helps.without[k] += static_cast<double>(layer.layer.count) * layer.limits.without[k];
        }
    }
}

} // namespace

Result<Helps> what_would_help(const Question& asked, std::stop_token stop,
                              const ProgressCallback& progress) {
    Helps helps;
    helps.by_search = asked.scenario.policy == MappingPolicy::best;
    const Question question = without_search(asked);
    const Trials trials(question, std::move(stop));
    const auto before = trials.now();
    if (!before) {
        return Result<Helps>(before.diagnostics());
    }
    helps.time_s = before->total.time_s;
    add_counterfactuals(*before, helps);
    const auto knobs = tried_knobs(question.machine);
    for (std::size_t i = 0; i < knobs.size() && !trials.stopped(); ++i) {
        const Knob& knob = knobs[i];
        if (progress) {
            progress({static_cast<double>(i) / static_cast<double>(knobs.size()),
                      "more " + knob.name, 0.0, -1.0});
        }
        ParameterHelp help{knob.key, knob.name, value_text(knob, knob.value)};
        help.tenth = trials.gain(knob, turned_value(knob, kTried[0]), helps.time_s);
        help.doubled = trials.gain(knob, turned_value(knob, 2.0), helps.time_s);
        find_next(trials, knob, helps.time_s, help);
        helps.parameters.push_back(std::move(help));
    }
    if (trials.stopped()) {
        return Result<Helps>::failure("cancelled", "cancelled");
    }
    std::stable_sort(helps.parameters.begin(), helps.parameters.end(),
                     [](const auto& a, const auto& b) { return a.doubled > b.doubled; });
    return Result<Helps>(std::move(helps));
}

} // namespace eyeroof::analysis
