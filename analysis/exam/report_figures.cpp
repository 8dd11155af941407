#include "analysis/exam/report_figures.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace eyeroof::analysis {

std::optional<std::size_t> LayersByName::next(const std::string& name) {
    const auto at = found_.find(name);
    return at != found_.end() && at->second.asked < at->second.indices.size()
               ? std::optional(at->second.indices[at->second.asked++])
               : std::nullopt;
}

LayersByName layers_by_name(const Report& report) {
    LayersByName found;
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        found.add(report.layers[i].layer.name, i);
    }
    return found;
}

double units_of(const MachineSummary& machine, const LayerReport& layer) {
    return layer.units > 0.0 ? layer.units : machine.units;
}

double share_after(const model::Chain& chain, double units, std::size_t step) {
    if (step == 0 || units <= 0.0) {
        return 1.0;
    }
    return std::min(units, chain[step - 1].macs_per_cycle) / units;
}

double kept_at(const model::Chain& chain, double units, std::size_t step) {
    const double before = share_after(chain, units, step - 1);
    return before > 0.0 ? share_after(chain, units, step) / before : 1.0;
}

double seconds_at(const MachineSummary& machine, const LayerReport& layer, std::size_t step) {
    const double operations_per_mac = 2.0;
    const double work = layer.macs > 0 ? static_cast<double>(layer.macs)
                                       : static_cast<double>(layer.flops) / operations_per_mac;
    const double rate = layer.steps[step - 1].macs_per_cycle * machine.clock_hz;
    return rate > 0.0 ? work / rate : 0.0;
}

WorkFigure work_of(const LayerReport& layer) {
    if (layer.macs > 0) {
        return {static_cast<double>(layer.macs), "MAC"};
    }
    return {static_cast<double>(layer.flops), "op"};
}

std::string limits_text(const LayerReport& layer) {
    if (!(layer.limits.at_work > 0.0)) {
        return {};
    }
    std::string text = fmt::format("{} (step {})", layer.limiter, layer.limiter_step);
    if (const std::size_t step = layer.limits.saves_most(); step > 0) {
        const std::string time = format_si(layer.limits.without[step - 1], "s");
        text += step == layer.limiter_step ? fmt::format("; {} without it", time)
                                           : fmt::format("; {} without {} (step {})", time,
                                                         layer.steps[step - 1].limit, step);
    }
    return text;
}

std::string shares_text(const LayerReport& layer) {
    constexpr double least = 0.005;
    std::vector<std::pair<double, std::string>> parts = {{layer.limits.at_work, "arithmetic"}};
    for (std::size_t i = 0; i < model::kSteps; ++i) {
        parts.emplace_back(layer.limits.share[i], fmt::format("step {}", i + 1));
    }
    std::stable_sort(parts.begin(), parts.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (const auto& [seconds, name] : parts) {
        if (layer.time_s > 0.0 && seconds >= least * layer.time_s) {
            text += fmt::format("{}{:.0f} % {}", text.empty() ? "" : ", ",
                                100.0 * seconds / layer.time_s, name);
        }
    }
    return text;
}

std::string stalls_text(const MachineSummary& machine, const LayerReport& layer) {
    const double outer = layer.split.dram_stall_s;
    const double stalls = outer + layer.split.on_chip_stall_s;
    if (machine.kind != "accelerator" || !(stalls > 0.0)) {
        return {};
    }
    const double most = std::max(outer, stalls - outer);
    const auto cycles = [&](double seconds) {
        return format_si(std::round(seconds * machine.clock_hz), "", 4);
    };
    return fmt::format("{:.0f} % of the stall cycles wait {} ({} of {})", 100.0 * most / stalls,
                       outer == most ? "for the outermost memory" : "on chip", cycles(most),
                       cycles(stalls));
}

double measured_steps(const Report& report) {
    std::vector<double> steps;
    for (const LayerReport& layer : report.layers) {
        if (layer.measured && layer.measured->executions > 0) {
            steps.push_back(static_cast<double>(layer.measured->executions) /
                            static_cast<double>(layer.layer.count));
        }
    }
    if (steps.empty()) {
        return 1.0;
    }
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::nth_element(steps.begin(), middle, steps.end());
    return *middle;
}

bool energy_is_upper_bound(const MachineSummary& machine, const LayerReport& layer) {
    return machine.kind != "accelerator" && !layer.measured_power;
}

bool energy_is_upper_bound(const Report& report) {
    return report.machine.kind != "accelerator" &&
           std::ranges::none_of(report.layers, &LayerReport::measured_power);
}

std::string_view energy_basis(const Report& report) {
    return report.machine.kind == "accelerator" ? "accesses"
           : energy_is_upper_bound(report)
               ? "board power x time, an upper bound"
               : "measured power of kernels x time, and board power x time for the rest";
}

} // namespace eyeroof::analysis
