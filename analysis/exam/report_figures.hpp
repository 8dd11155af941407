// Figures that follow from a report by simple arithmetic, computed once for all writers.
#pragma once

#include "analysis/exam/report.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eyeroof::analysis {

// Layers of two lists that belong together, though one has some that the other lacks, and a name
// may stand for several: the n-th that asks for a name gets the n-th of that name.
class LayersByName {
  public:
    void add(const std::string& name, std::size_t index) { found_[name].indices.push_back(index); }
    std::optional<std::size_t> next(const std::string& name);

  private:
    struct Found {
        std::vector<std::size_t> indices;
        std::size_t asked = 0;
    };
    std::unordered_map<std::string, Found> found_;
};
LayersByName layers_by_name(const Report& report);

// MAC per cycle of the machine's clock of the units that run this layer's type: the peak that its
// utilization refers to. The machine's own if the layer has none.
double units_of(const MachineSummary& machine, const LayerReport& layer);

// Throughput after a step as a share of the machine's units: min(units, B_k) / units, with B_0 =
// all units. step: 0 … 7.
double share_after(const model::Chain& chain, double units, std::size_t step);

// What a step alone leaves of the throughput before it: share_after(k) / share_after(k-1).
double kept_at(const model::Chain& chain, double units, std::size_t step);

// Time of one execution at a step's bound: work / (B_k * clock), where work is the layer's MACs or,
// without any, half its operations (as in the chain). Seconds; 0 for a layer without work.
double seconds_at(const MachineSummary& machine, const LayerReport& layer, std::size_t step);

// "MAC" with the MAC count, or "op" with the operations of a layer without MACs.
struct WorkFigure {
    double amount = 0.0;
    std::string_view unit;
};
WorkFigure work_of(const LayerReport& layer);

// "DRAM link (step 6); 15.7 ms without it": the binding step, and the layer's time without the step
// that saves most. Empty for a layer whose limits are not known.
std::string limits_text(const LayerReport& layer);

// "87 % step 6, 12 % step 4, 1 % arithmetic": where the time goes, order-free, largest first,
// without shares below half a percent. Empty where limits are not known.
std::string shares_text(const LayerReport& layer);

// "77 % of the stall cycles wait for the outermost memory (334.4 k of 436.7 k)", or on chip: which
// of the two takes more of step 7 on an accelerator. Empty without stalls, and on other machines.
std::string stalls_text(const MachineSummary& machine, const LayerReport& layer);

// Steps of the network that a measurement holds: the median over its layers of how often each ran,
// over how often one step runs it; 1 where nothing was measured.
double measured_steps(const Report& report);

// Energies are those of the accesses on accelerators, and board power (TDP) x time elsewhere. No
// run exceeds the latter, but the mean power of kernels that were measured is an estimate.
bool energy_is_upper_bound(const MachineSummary& machine, const LayerReport& layer);
bool energy_is_upper_bound(const Report& report); // of the step
std::string_view energy_basis(const Report& report);

} // namespace eyeroof::analysis
