#include "analysis/what_if/parameter_map.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Machine;

namespace {

constexpr double kPerOctave = 12.0; // of the scale of values …
constexpr double kFiner = 4.0;      // … times as fine as what is looked through first
constexpr double kOneByOne = 32.0;
constexpr double kRange = 4.0; // of a map, each way

const Parameter* parameter_named(const std::vector<Parameter>& parameters, const std::string& key) {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return parameter.key == key; });
    return found == parameters.end() ? nullptr : &*found;
}

template <class T> Result<T> unknown(const Machine& machine, const std::string& key) {
    return Result<T>::failure("unknown-parameter",
                              "'" + key + "' is no parameter of " + machine.name,
                              "`eyeroof exam … --set` with a wrong name lists all");
}

// Above the present value, in rising order, `per_octave` a doubling.
std::vector<double> tried_values(const Parameter& parameter, double first, double last,
                                 double per_octave) {
    std::vector<double> values;
    for (double step = 1.0; step <= per_octave * std::log2(last / first) + 1e-9; step += 1.0) {
        const double value = first * std::exp2(step / per_octave);
        const double used = parameter.whole ? std::round(value) : value;
        if (used > (values.empty() ? first : values.back())) {
            values.push_back(used);
        }
    }
    return values;
}

// Whole counts one by one near the present value, then in thirds of an octave.
std::vector<double> coarse_values(const Parameter& parameter) {
    const double last = parameter.value * kFarthest;
    std::vector<double> values;
    for (double more = 1.0; parameter.whole && more <= kOneByOne && parameter.value + more <= last;
         more += 1.0) {
        values.push_back(parameter.value + more);
    }
    const double near = values.empty() ? parameter.value : values.back();
    const auto far = tried_values(parameter, near, last, kPerOctave / kFiner);
    values.insert(values.end(), far.begin(), far.end());
    return values;
}

std::vector<double> around(const Parameter& parameter, std::size_t side) {
    std::vector<double> values;
    for (std::size_t i = 0; i < side; ++i) {
        const double share = 2.0 * static_cast<double>(i) / static_cast<double>(side - 1) - 1.0;
        const double value = parameter.value * std::pow(kRange, share);
        const double used = parameter.whole ? std::max(1.0, std::round(value)) : value;
        if (values.empty() || used > values.back()) { // small counts have few values
            values.push_back(used);
        }
    }
    return values;
}

struct Turned {
    const Parameter& parameter;
    double value;

    double factor() const { return value / parameter.value; }
};

// Both by their factors, as sliders turn them: a clock first, since rates that no one turned follow
// it, and what is turned is then so many times what is in force.
std::vector<Change> both_turned(const Machine& machine, const Turned& a, const Turned& b) {
    const bool b_first = b.parameter.key.find("clock") != std::string::npos;
    const Turned& first = b_first ? b : a;
    const Turned& second = b_first ? a : b;
    std::vector<Change> changes;
    if (first.factor() != 1.0) {
        changes.push_back({first.parameter.key, first.value});
    }
    if (second.factor() == 1.0) {
        return changes;
    }
    double value = second.value;
    if (const auto then = changed(machine, changes); then && !changes.empty()) {
        const auto parameters = parameters_of(*then);
        if (const Parameter* now = parameter_named(parameters, second.parameter.key);
            now != nullptr && now->value != second.parameter.value) {
            const double scaled = now->value * second.factor();
            value = now->whole ? std::max(1.0, std::round(scaled)) : scaled;
        }
    }
    changes.push_back({second.parameter.key, value});
    return changes;
}

} // namespace

std::optional<NextValue> next_helpful(const Trials& trials, const Parameter& parameter,
                                      const ProgressCallback& progress) {
    const auto helps = [&](double value) -> std::optional<NextValue> {
        const auto speedup = trials.stopped() ? std::nullopt : trials.speedup(parameter, value);
        return speedup && *speedup >= kWorthAStep ? std::optional(NextValue{value, *speedup})
                                                  : std::nullopt;
    };
    const auto values = coarse_values(parameter);
    double below = parameter.value;
    for (const double value : values) {
        if (progress) {
            progress(
                {static_cast<double>(&value - values.data()) / static_cast<double>(values.size()),
                 "more " + parameter.name, 0.0, -1.0});
        }
        if (const auto found = helps(value)) {
            for (const double between : tried_values(parameter, below, value, kPerOctave)) {
                if (const auto less = between < value ? helps(between) : found) {
                    return less;
                }
            }
            return found;
        }
        below = value;
    }
    return std::nullopt;
}

Result<std::optional<NextValue>> next_helpful(const Question& asked, const std::string& key,
                                              std::stop_token stop,
                                              const ProgressCallback& progress, Examine examine) {
    using Found = Result<std::optional<NextValue>>;
    const auto parameters = parameters_of(asked.machine);
    const Parameter* parameter = parameter_named(parameters, key);
    if (parameter == nullptr) {
        return unknown<std::optional<NextValue>>(asked.machine, key);
    }
    const auto trials = Trials::of(asked, std::move(stop), std::move(examine));
    if (!trials) {
        return Found(trials.diagnostics());
    }
    auto found = next_helpful(*trials, *parameter, progress);
    return trials->stopped() ? Found::failure("cancelled", "cancelled") : Found(found);
}

Result<ParameterMap> parameter_map(const Question& asked, const std::string& x,
                                   const std::string& y, std::size_t side, std::stop_token stop,
                                   const ProgressCallback& progress, Examine examine) {
    const auto parameters = parameters_of(asked.machine);
    const Parameter* across = parameter_named(parameters, x);
    const Parameter* up = parameter_named(parameters, y);
    if (across == nullptr || up == nullptr) {
        return unknown<ParameterMap>(asked.machine, across == nullptr ? x : y);
    }
    if (side < 2 || side > kMostCells || x == y) {
        return Result<ParameterMap>::failure("bad-value",
                                             "a map has two parameters and 2 to 17 values of each",
                                             "choose fewer values");
    }
    const auto trials = Trials::of(asked, std::move(stop), std::move(examine));
    if (!trials) {
        return Result<ParameterMap>(trials.diagnostics());
    }
    ParameterMap map{*across,           *up, around(*across, side),
                     around(*up, side), {},  trials->now().total.time_s};
    for (const double above : map.y_values) {
        auto& row = map.time_s.emplace_back();
        for (const double along : map.x_values) {
            const auto report =
                trials->with(both_turned(asked.machine, {*across, along}, {*up, above}));
            row.push_back(report ? std::optional(report->total.time_s) : std::nullopt);
            if (trials->stopped()) {
                return Result<ParameterMap>::failure("cancelled", "cancelled");
            }
        }
        if (progress) {
            progress(
                {static_cast<double>(map.time_s.size()) / static_cast<double>(map.y_values.size()),
                 across->name + " and " + up->name, 0.0, -1.0});
        }
    }
    return Result<ParameterMap>(std::move(map));
}

} // namespace eyeroof::analysis
