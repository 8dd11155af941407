#include "analysis/exam/totals.hpp"

#include "analysis/exam/report_figures.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

// What the network would save if one step alone cost a layer nothing: the largest, of equal ones
// the first.
void keep_largest(const Report& report, std::size_t at, std::size_t most,
                  std::vector<Loss>& largest) {
    const LayerReport& layer = report.layers[at];
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        const double saved_s = std::max(0.0, layer.time_s - layer.limits.without[i]);
        const Loss loss{at, i + 1, saved_s * static_cast<double>(layer.layer.count)};
        const auto behind = std::find_if(largest.begin(), largest.end(), [&](const Loss& other) {
            return other.lost_s < loss.lost_s;
        });
        largest.insert(behind, loss);
        largest.resize(std::min(largest.size(), most));
    }
}

} // namespace

double utilization_in(const Report& report, double time_s) {
    double at_peak_s = 0.0;
    for (const LayerReport& layer : report.layers) {
        const double rate = units_of(report.machine, layer) * report.machine.clock_hz;
        const double macs =
            static_cast<double>(layer.layer.count) * static_cast<double>(layer.macs);
        at_peak_s += rate > 0.0 ? macs / rate : 0.0;
    }
    return time_s > 0.0 ? at_peak_s / time_s : 0.0;
}

void add_totals(Report& report, std::size_t losses_kept) {
    Total& total = report.total;
    std::vector<Loss> losses;
    bool all_have_intervals = !report.layers.empty();
    double low = 0.0;
    double high = 0.0;
    double unit_seconds = 0.0;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        const LayerReport& layer = report.layers[i];
        const auto count = static_cast<double>(layer.layer.count);
        total.macs += count * static_cast<double>(layer.macs);
        total.flops += count * static_cast<double>(layer.flops);
        total.time_s += count * layer.time_s;
        total.processing_time_s += count * layer.processing_time_s;
        total.energy_j += count * layer.energy_j;
        total.leakage_j += count * layer.leakage_j;
        total.outer_bytes += count * layer.outer_bytes;
        unit_seconds += count * layer.processing_time_s * layer.active.averaged;
        all_have_intervals = all_have_intervals && layer.low_s && layer.high_s;
        low += count * layer.low_s.value_or(0.0);
        high += count * layer.high_s.value_or(0.0);
        keep_largest(report, i, losses_kept, losses);
    }
    if (all_have_intervals) {
        total.low_s = low;
        total.high_s = high;
    }
    total.utilization = utilization_in(report, total.time_s);
    if (total.processing_time_s > 0.0) {
        total.averaged_units = unit_seconds / total.processing_time_s;
    }
    report.worst = std::move(losses);
    keep_worthwhile(report, losses_kept);
}

void keep_worthwhile(Report& report, std::size_t most) {
    constexpr double rounding = 1e-9;
    std::erase_if(report.worst,
                  [&](const Loss& loss) { return loss.lost_s <= rounding * report.total.time_s; });
    report.worst.resize(std::min(report.worst.size(), most));
}

} // namespace eyeroof::analysis
