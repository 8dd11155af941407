#include "analysis/what_if/knob_map.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Machine;

namespace {

constexpr double kPerOctave = 12.0; // of the scale of values …
constexpr double kFiner = 4.0;      // … times as fine as what is looked through first
constexpr double kOneByOne = 32.0;
constexpr double kRange = 4.0; // of a map, each way

const Knob* knob_named(const std::vector<Knob>& knobs, const std::string& key) {
    const auto found =
        std::find_if(knobs.begin(), knobs.end(), [&](const Knob& knob) { return knob.key == key; });
    return found == knobs.end() ? nullptr : &*found;
}

template <class T> Result<T> unknown(const Machine& machine, const std::string& key) {
    return Result<T>::failure("unknown-parameter",
                              "'" + key + "' is no parameter of " + machine.name,
                              "`eyeroof exam … --set` with a wrong name lists all");
}

// Above the present value, in rising order, `per_octave` a doubling.
std::vector<double> tried_values(const Knob& knob, double first, double last, double per_octave) {
    std::vector<double> values;
    for (double step = 1.0; step <= per_octave * std::log2(last / first) + 1e-9; step += 1.0) {
        const double value = first * std::exp2(step / per_octave);
        const double used = knob.whole ? std::round(value) : value;
        if (used > (values.empty() ? first : values.back())) {
            values.push_back(used);
        }
    }
    return values;
}

// Whole counts one by one near the present value, then in thirds of an octave.
std::vector<double> coarse_values(const Knob& knob) {
    const double last = knob.value * kFarthest;
    std::vector<double> values;
    for (double more = 1.0; knob.whole && more <= kOneByOne && knob.value + more <= last;
         more += 1.0) {
        values.push_back(knob.value + more);
    }
    const double near = values.empty() ? knob.value : values.back();
    const auto far = tried_values(knob, near, last, kPerOctave / kFiner);
    values.insert(values.end(), far.begin(), far.end());
    return values;
}

std::vector<double> around(const Knob& knob, std::size_t side) {
    std::vector<double> values;
    for (std::size_t i = 0; i < side; ++i) {
        const double share = 2.0 * static_cast<double>(i) / static_cast<double>(side - 1) - 1.0;
        const double value = knob.value * std::pow(kRange, share);
        const double used = knob.whole ? std::max(1.0, std::round(value)) : value;
        if (values.empty() || used > values.back()) { // small counts have few values
            values.push_back(used);
        }
    }
    return values;
}

} // namespace

std::optional<NextValue> next_helpful(const Trials& trials, const Knob& knob,
                                      const ProgressCallback& progress) {
    const auto helps = [&](double value) -> std::optional<NextValue> {
        const auto speedup = trials.stopped() ? std::nullopt : trials.speedup(knob, value);
        return speedup && *speedup >= kWorthAStep ? std::optional(NextValue{value, *speedup})
                                                  : std::nullopt;
    };
    const auto values = coarse_values(knob);
    double below = knob.value;
    for (const double value : values) {
        if (progress) {
            progress(
                {static_cast<double>(&value - values.data()) / static_cast<double>(values.size()),
                 "more " + knob.name, 0.0, -1.0});
        }
        if (const auto found = helps(value)) {
            for (const double between : tried_values(knob, below, value, kPerOctave)) {
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
    const auto knobs = knobs_of(asked.machine);
    const Knob* knob = knob_named(knobs, key);
    if (knob == nullptr) {
        return unknown<std::optional<NextValue>>(asked.machine, key);
    }
    const auto trials = Trials::of(asked, std::move(stop), std::move(examine));
    if (!trials) {
        return Found(trials.diagnostics());
    }
    auto found = next_helpful(*trials, *knob, progress);
    return trials->stopped() ? Found::failure("cancelled", "cancelled") : Found(found);
}

Result<KnobMap> knob_map(const Question& asked, const std::string& x, const std::string& y,
                         std::size_t side, std::stop_token stop, const ProgressCallback& progress) {
    const auto knobs = knobs_of(asked.machine);
    const Knob* across = knob_named(knobs, x);
    const Knob* up = knob_named(knobs, y);
    if (across == nullptr || up == nullptr) {
        return unknown<KnobMap>(asked.machine, across == nullptr ? x : y);
    }
    if (side < 2 || side > kMostCells || x == y) {
        return Result<KnobMap>::failure("bad-value",
                                        "a map has two parameters and 2 to 17 values of each",
                                        "choose fewer values");
    }
    const auto trials = Trials::of(asked, std::move(stop));
    if (!trials) {
        return Result<KnobMap>(trials.diagnostics());
    }
    KnobMap map{*across,           *up, around(*across, side),
                around(*up, side), {},  trials->now().total.time_s};
    for (const double above : map.y_values) {
        auto& row = map.time_s.emplace_back();
        for (const double along : map.x_values) {
            const auto report = trials->with({{x, along}, {y, above}});
            row.push_back(report ? std::optional(report->total.time_s) : std::nullopt);
            if (trials->stopped()) {
                return Result<KnobMap>::failure("cancelled", "cancelled");
            }
        }
        if (progress) {
            progress(
                {static_cast<double>(map.time_s.size()) / static_cast<double>(map.y_values.size()),
                 across->name + " and " + up->name, 0.0, -1.0});
        }
    }
    return Result<KnobMap>(std::move(map));
}

} // namespace eyeroof::analysis
