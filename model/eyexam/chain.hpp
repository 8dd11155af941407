// The seven-step chain: what throughput is left after each constraint, and which limit took the
// rest. Built by eyexam/step*.cpp for accelerators and by gpu/ for GPUs; shown by every report.
// Knows no file format and no machine kind.
//
// Source: Chen, Emer, Sze, arXiv:1807.07928v1 (Eyexam); Sze et al., IEEE SSC Magazine, Summer 2020,
// Table 2. Let M_k be the mappings that are still legal after step k; M_1 contains M_2 contains …
// M_7, and the bound of step k is the largest throughput over M_k.
#pragma once

#include "model/base/result.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace eyeroof::model {

inline constexpr std::size_t kSteps = 7;
inline constexpr std::array<std::string_view, kSteps> kStepNames = {
    "workload",         "dataflow",          "number of units",        "physical dimensions",
    "storage capacity", "average bandwidth", "instantaneous bandwidth"};

struct StepBound {
    double macs_per_cycle = 0.0;
    std::string limit;  // the limiting dimension or resource: "y axis", "DRAM bus: weight"
    std::string reason; // one sentence why

    bool operator==(const StepBound&) const = default;
};

// Index 0 is step 1. Operators without MACs count two of their operations as one MAC.
using Chain = std::array<StepBound, kSteps>;

// The step (1 … 7) that takes the largest factor away from what the machine's units could do.
// Losses of steps 1 and 2 count only as far as they leave fewer than `units` MAC/cycle.
std::size_t worst_step(const Chain& chain, double units);

// An error "chain-rises" for each step whose bound exceeds the one before it by more than rounding,
// and for bounds that are not finite or not positive. A violation is a bug, never an output.
Diagnostics check_chain(const Chain& chain, std::string_view what);

} // namespace eyeroof::model
