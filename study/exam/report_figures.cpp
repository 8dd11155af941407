#include "study/exam/report_figures.hpp"

#include <algorithm>

namespace eyeroof::study {

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

} // namespace eyeroof::study
