#include "analysis/what_if/helps.hpp"

#include "analysis/what_if/parameter_map.hpp"
#include "analysis/what_if/sensitivity.hpp"
#include "analysis/what_if/trials.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

constexpr int kShownDigits = 3;

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
    const auto as_it_is = run(asked, stop);
    if (!as_it_is) {
        return Result<Helps>(as_it_is.diagnostics());
    }
    const auto near = [known = known_mappings(*as_it_is)](const Question& variant,
                                                          const std::stop_token& token) {
        return run_near(variant, known, token);
    };
    const auto trials = Trials::of(asked, std::move(stop), near);
    if (!trials) {
        return Result<Helps>(trials.diagnostics());
    }
    Helps helps;
    helps.by_search = asked.scenario.policy == MappingPolicy::best;
    helps.time_s = trials->now().total.time_s;
    add_counterfactuals(trials->now(), helps);
    const auto parameters = tried_parameters(trials->question().machine);
    for (std::size_t i = 0; i < parameters.size() && !trials->stopped(); ++i) {
        const Parameter& parameter = parameters[i];
        if (progress) {
            progress({static_cast<double>(i) / static_cast<double>(parameters.size()),
                      "more " + parameter.name, 0.0, -1.0});
        }
        ParameterHelp help{parameter.key, parameter.name,
                           value_text(parameter, parameter.value, kShownDigits)};
        const auto gain = [&](double factor) {
            return trials->speedup(parameter, turned_value(parameter, factor)).value_or(1.0);
        };
        help.tenth = gain(kSensitivityFactor);
        help.doubled = gain(kDoubled);
        if (const auto next = next_helpful(*trials, parameter)) {
            help.next = value_text(parameter, next->value, kShownDigits);
            help.with_next = next->speedup;
        }
        helps.parameters.push_back(std::move(help));
    }
    if (trials->stopped()) {
        return Result<Helps>::failure("cancelled", "cancelled");
    }
    std::stable_sort(helps.parameters.begin(), helps.parameters.end(),
                     [](const auto& a, const auto& b) { return a.doubled > b.doubled; });
    return Result<Helps>(std::move(helps));
}

} // namespace eyeroof::analysis
