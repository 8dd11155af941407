#include "analysis/what_if/knob_map.hpp"

#include "analysis/what_if/sensitivity.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::Machine;

namespace {

constexpr double kPerOctave = 12.0;
constexpr double kOneByOne = 32.0;
constexpr double kRange = 4.0; // of a map, each way

// A search for every machine that is tried would take minutes.
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

std::optional<double> time_with(const Question& question, const std::vector<Change>& changes,
                                const std::stop_token& stop) {
    auto turned = changed(question.machine, changes);
    if (!turned) {
        return std::nullopt;
    }
    Question other = question;
    other.machine = *std::move(turned);
    const auto report = run(other, stop);
    return report ? std::optional(report->total.time_s) : std::nullopt;
}

// Above the present value, in rising order.
std::vector<double> tried_values(const Knob& knob) {
    std::vector<double> values;
    const double last = knob.value * kFarthest;
    if (knob.whole) {
        for (double more = 1.0; more <= kOneByOne && knob.value + more <= last; more += 1.0) {
            values.push_back(knob.value + more);
        }
    }
    for (double step = 1.0; step <= kPerOctave * std::log2(kFarthest); step += 1.0) {
        const double value = knob.value * std::exp2(step / kPerOctave);
        const double used = knob.whole ? std::round(value) : value;
        if (used > (values.empty() ? knob.value : values.back())) {
            values.push_back(used);
        }
    }
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

Result<std::optional<NextValue>> next_helpful(const Question& asked, const std::string& key,
                                              std::stop_token stop,
                                              const ProgressCallback& progress) {
    using Found = Result<std::optional<NextValue>>;
    const auto knobs = knobs_of(asked.machine);
    const Knob* knob = knob_named(knobs, key);
    if (knob == nullptr) {
        return unknown<std::optional<NextValue>>(asked.machine, key);
    }
    const Question question = without_search(asked);
    const auto before = run(question, stop);
    if (!before) {
        return Found(before.diagnostics());
    }
    const auto values = tried_values(*knob);
    for (const double value : values) {
        if (progress) {
            progress(
                {static_cast<double>(&value - values.data()) / static_cast<double>(values.size()),
                 "more " + knob->name, 0.0, -1.0});
        }
        const auto time = time_with(question, {{key, value}}, stop);
        if (stop.stop_requested()) {
            return Found::failure("cancelled", "cancelled");
        }
        if (time && before->total.time_s / *time >= kWorthAStep) {
            return Found(NextValue{value, before->total.time_s / *time});
        }
    }
    return Found(std::optional<NextValue>{});
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
    const Question question = without_search(asked);
    const auto now = run(question, stop);
    if (!now) {
        return Result<KnobMap>(now.diagnostics());
    }
    KnobMap map{*across, *up, around(*across, side), around(*up, side), {}, now->total.time_s};
    for (const double above : map.y_values) {
        auto& row = map.time_s.emplace_back();
        for (const double along : map.x_values) {
            row.push_back(time_with(question, {{x, along}, {y, above}}, stop));
            if (stop.stop_requested()) {
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
