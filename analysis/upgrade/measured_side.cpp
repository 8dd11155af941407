#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/trace_error.hpp"
#include "analysis/upgrade/upgrade.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::analysis {

namespace {

// Another time, with the interval of the same width.
void retime(LayerReport& layer, double seconds) {
    const double factor = layer.time_s > 0.0 ? seconds / layer.time_s : 1.0;
    layer.time_s = seconds;
    layer.wait_s = 0.0; // idle time is the step's
    for (auto* bound : {&layer.low_s, &layer.high_s}) {
        if (*bound) {
            **bound *= factor;
        }
    }
}

constexpr double kHalfWidth80 = 1.2816; // of an 80 % interval, in standard deviations
constexpr double kOpenEnd = 0.43;       // of a prediction without an upper end: a factor of 3

double own_sigma(const LayerReport& layer) {
    if (!layer.low_s || !layer.high_s || !(*layer.low_s > 0.0)) {
        return 0.0;
    }
    return std::isfinite(*layer.high_s)
               ? std::log(*layer.high_s / *layer.low_s) / (2 * kHalfWidth80)
               : kOpenEnd;
}

// The new GPU's time of one layer, given what the old one measured: see upgrade.hpp.
struct Given {
    double seconds = 0.0, variance = 0.0; // of ln(seconds)
    double alone = 0.0;                   // variance of the prediction alone
};

Given given(const TimedLayer& measured, const LayerReport& from, const LayerReport& to) {
    const double r = measured.inferred ? kInferredSigma : kRunSigma;
    const double s_from = own_sigma(from), s_to = own_sigma(to);
    const double common = kModelShared * s_to * s_from + kRunShared * r * r;
    const double weight = common / (s_from * s_from + r * r);
    const double alone = s_to * s_to + r * r;
    return {to.time_s * std::pow(measured.seconds / from.time_s, weight), alone - weight * common,
            alone};
}

// A sum of times and the standard deviation of its logarithm.
struct Sum {
    double seconds = 0.0, common = 0.0, apart = 0.0; // seconds, seconds, seconds squared

    void add(double time_s, double variance) {
        constexpr double kCommon = 0.5;
        seconds += time_s;
        common += time_s * std::sqrt(kCommon * variance);
        apart += time_s * time_s * (1.0 - kCommon) * variance;
    }
    Interval interval() const {
        const double sigma = seconds > 0.0 ? std::sqrt(common * common + apart) / seconds : 0.0;
        const double spread = std::exp(kHalfWidth80 * sigma);
        return {seconds, seconds / spread, seconds * spread};
    }
};

struct CategorySums {
    double from_s = 0.0;
    Sum given, predicted;
};

// A layer that was measured on the old GPU and is predicted on both.
struct Triple {
    const TimedLayer* measured;
    std::size_t from, to; // in the reports
};

std::vector<Triple> triples(const MeasuredStep& measured, const Report& before,
                            const Report& after) {
    LayersByName twins = layers_by_name(after);
    LayersByName known;
    for (std::size_t i = 0; i < measured.layers.size(); ++i) {
        known.add(measured.layers[i].name, i);
    }
    std::vector<Triple> all;
    for (std::size_t i = 0; i < before.layers.size(); ++i) {
        const LayerReport& from = before.layers[i];
        const auto at = known.next(from.layer.name);
        const auto twin = twins.next(from.layer.name);
        if (at && twin && measured.layers[*at].seconds > 0.0 && from.time_s > 0.0) {
            all.push_back({&measured.layers[*at], i, *twin});
        }
    }
    return all;
}

} // namespace

std::vector<UpgradeCategory> measured_categories(const MeasuredStep& measured, const Report& before,
                                                 const Report& after) {
    std::map<std::string, CategorySums> sums;
    for (const Triple& triple : triples(measured, before, after)) {
        const LayerReport& from = before.layers[triple.from];
        const LayerReport& to = after.layers[triple.to];
        const std::string& name = triple.measured->category;
        const Given made = given(*triple.measured, from, to);
        const auto runs = static_cast<double>(from.layer.count);
        const double from_s = runs * triple.measured->seconds;
        for (const std::string& key : {std::string("all"), name.empty() ? "other" : name}) {
            CategorySums& sum = sums[key];
            sum.from_s += from_s;
            sum.given.add(runs * made.seconds, made.variance);
            sum.predicted.add(runs * to.time_s, made.alone);
        }
    }
    std::vector<UpgradeCategory> made;
    for (const auto& [key, sum] : sums) {
        const Interval to = sum.given.interval();
        made.push_back({key,
                        sum.from_s,
                        to,
                        {sum.from_s / to.value, sum.from_s / to.high, sum.from_s / to.low},
                        sum.predicted.interval()});
    }
    std::ranges::stable_sort(made, [](const UpgradeCategory& a, const UpgradeCategory& b) {
        return (a.name == "all") != (b.name == "all") ? a.name == "all" : a.from_s > b.from_s;
    });
    return made;
}

void take_measured(const MeasuredStep& measured, Report& before, Report& after) {
    double old_s = 0.0;
    double new_s = 0.0;
    for (const Triple& triple : triples(measured, before, after)) {
        LayerReport& layer = before.layers[triple.from];
        LayerReport& twin = after.layers[triple.to];
        if (!(twin.time_s > 0.0)) {
            continue;
        }
        const auto runs = static_cast<double>(layer.layer.count);
        const double to_s = given(*triple.measured, layer, twin).seconds;
        retime(twin, to_s);
        retime(layer, triple.measured->seconds);
        old_s += runs * triple.measured->seconds;
        new_s += runs * to_s;
    }
    if (!(old_s > 0.0)) {
        return;
    }
    const double fixed_s = measured.idle_s + measured.unknown_s;
    const double busy_s = std::max(0.0, measured.step_s - fixed_s);
    before.total.time_s = measured.step_s;
    before.total.device_s = old_s + measured.unknown_s;
    after.total.time_s = fixed_s + busy_s * new_s / old_s;
    after.total.device_s = new_s + measured.unknown_s;
}

} // namespace eyeroof::analysis
