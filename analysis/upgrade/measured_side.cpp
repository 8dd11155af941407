#include "analysis/upgrade/upgrade.hpp"

#include <algorithm>

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

} // namespace

void take_measured(const MeasuredStep& measured, Report& before, Report& after) {
    double old_s = 0.0;
    double new_s = 0.0;
    for (LayerReport& layer : before.layers) {
        const auto at = measured.layer_s.find(layer.layer.name);
        const auto twin = std::ranges::find(after.layers, layer.layer.name,
                                            [](const LayerReport& l) { return l.layer.name; });
        if (at == measured.layer_s.end() || twin == after.layers.end() || !(layer.time_s > 0.0) ||
            !(twin->time_s > 0.0)) {
            continue;
        }
        const double ratio = twin->time_s / layer.time_s;
        const auto runs = static_cast<double>(layer.layer.count);
        retime(*twin, at->second * ratio);
        retime(layer, at->second);
        old_s += runs * at->second;
        new_s += runs * at->second * ratio;
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
