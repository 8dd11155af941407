#include "analysis/what_if/trials.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

namespace {

// A search for every machine that is tried would take minutes, and its answers differ by what it
// finds in its time: both sides take the dataflow's own mappings.
Question without_search(Question question) {
    MappingPolicy& policy = question.scenario.policy;
    if (policy == MappingPolicy::best || policy == MappingPolicy::automatic) {
        policy = MappingPolicy::dataflow;
    }
    return question;
}

} // namespace

double turned_value(const Parameter& parameter, double factor) {
    const double value = parameter.value * factor;
    return parameter.whole ? std::max(std::round(value), parameter.value + 1.0) : value;
}

Result<Trials> Trials::of(const Question& asked, std::stop_token stop, Examine examine) {
    Question question = examine ? asked : without_search(asked);
    if (!examine) {
        examine = [](const Question& variant, const std::stop_token& token) {
            return run(variant, token);
        };
    }
    auto now = examine(question, stop);
    return now ? Result<Trials>(Trials(std::move(question), *std::move(now), std::move(stop),
                                       std::move(examine)))
               : Result<Trials>(now.diagnostics());
}

std::optional<Report> Trials::with(const std::vector<Change>& changes) const {
    auto machine = changed(question_.machine, changes);
    if (!machine) {
        return std::nullopt;
    }
    Question turned = question_;
    turned.machine = *std::move(machine);
    auto report = examine_(turned, stop_);
    return report ? std::optional(*std::move(report)) : std::nullopt;
}

std::optional<double> Trials::speedup(const Parameter& parameter, double value) const {
    const auto after = with({{parameter.key, value}});
    return after && after->total.time_s > 0.0
               ? std::optional(now_.total.time_s / after->total.time_s)
               : std::nullopt;
}

} // namespace eyeroof::analysis
