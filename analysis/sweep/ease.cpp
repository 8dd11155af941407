#include "analysis/sweep/ease.hpp"

#include "model/cost/leakage.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

bool sizes_count(const Store& store) {
    return store.capacity_bytes && !store.prefetch;
}

// Calls axis(Count&), capacity(Count&), and rate(double&) for all, in one order.
template <class Machine, class Axes, class Capacity, class Rate>
void each_of(Machine& accelerator, Axes axis_size, Capacity capacity, Rate rate) {
    for (auto& level : accelerator.levels) {
        for (auto& axis : level.fanout) {
            axis_size(axis.size);
        }
        for (auto& store : level.stores) {
            if (sizes_count(store)) {
                capacity(*store.capacity_bytes);
            }
            rate(store.read_bytes_per_cycle);
            rate(store.write_bytes_per_cycle);
        }
        for (auto& channel : level.channels) {
            rate(channel.down_bytes_per_cycle);
            rate(channel.up_bytes_per_cycle);
        }
    }
}

bool none_smaller(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double one, double other) { return one >= other; });
}

std::vector<double> larger(std::vector<double> a, const std::vector<double>& b) {
    std::transform(a.begin(), a.end(), b.begin(), a.begin(),
                   [](double one, double other) { return std::max(one, other); });
    return a;
}

} // namespace

Ease ease_of(const Accelerator& accelerator) {
    Ease ease;
    each_of(
        accelerator, [&](Count size) { ease.axes.push_back(static_cast<double>(size)); },
        [&](Count bytes) { ease.capacities.push_back(static_cast<double>(bytes)); },
        [&](double rate) { ease.rates.push_back(rate); });
    return ease;
}

bool covers_sizes(const Ease& ease, const Ease& other) {
    return none_smaller(ease.axes, other.axes) && none_smaller(ease.capacities, other.capacities);
}

bool covers(const Ease& ease, const Ease& other) {
    return covers_sizes(ease, other) && none_smaller(ease.rates, other.rates);
}

Ease easier(const Ease& a, const Ease& b) {
    return {larger(a.axes, b.axes), larger(a.capacities, b.capacities), larger(a.rates, b.rates)};
}

Ease slower(Ease a, const Ease& b) {
    std::transform(a.rates.begin(), a.rates.end(), b.rates.begin(), a.rates.begin(),
                   [](double one, double other) { return std::min(one, other); });
    return a;
}

double speedup(const Ease& ease, const Ease& slowest) {
    double most = 1.0;
    for (std::size_t i = 0; i < ease.rates.size(); ++i) {
        most =
            std::isfinite(ease.rates[i]) ? std::max(most, ease.rates[i] / slowest.rates[i]) : most;
    }
    return most;
}

Accelerator with_ease(Accelerator accelerator, const Ease& ease) {
    std::size_t axis = 0;
    std::size_t store = 0;
    std::size_t port = 0;
    each_of(
        accelerator, [&](Count& size) { size = static_cast<Count>(ease.axes[axis++]); },
        [&](Count& bytes) { bytes = static_cast<Count>(ease.capacities[store++]); },
        [&](double& rate) { rate = ease.rates[port++]; });
    return accelerator;
}

Accelerator without_ease(Accelerator accelerator) {
    const bool leaks_more = leaks(accelerator) && !accelerator.gates_idle;
    accelerator.clock_hz = 1.0;
    accelerator.vector_unit.reset();
    each_of(
        accelerator, [&](Count& size) { size = leaks_more ? size : 1; },
        [](Count& bytes) { bytes = 1; },
        [](double& rate) { rate = std::isfinite(rate) ? 1.0 : rate; });
    return accelerator;
}

} // namespace eyeroof::analysis
