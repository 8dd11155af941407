// The seven-step chain: what throughput is left after each constraint, and which limit took the
// rest. Built by eyexam/step*.cpp for accelerators and by gpu/ for GPUs; shown by every report.
//
// Source: Chen, Emer, Sze, arXiv:1807.07928v1 (Eyexam); Sze et al., IEEE SSC Magazine, Summer 2020,
// Table 2. Let M_k be the mappings that are still legal after step k; M_1 contains M_2 contains …
// M_7, and the bound of step k is the largest throughput over M_k.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace eyeroof::model {

inline constexpr std::size_t kSteps = 7;
inline constexpr std::array<std::string_view, kSteps> kStepNames = {
    "workload",         "dataflow",          "number of units",        "physical dimensions",
    "storage capacity", "average bandwidth", "instantaneous bandwidth"};

// What takes throughput away, for logic; `limit` beside it says which one in the machine's words.
// `arithmetic`: nothing does, the units work.
enum class Limit {
    arithmetic,
    workload,
    dataflow,
    units,      // their number: the last pass over them is not full
    dimensions, // of the array; on GPUs tiles and waves
    alignment,  // rows that tensor cores do not load whole
    storage,    // tile sizes; on GPUs registers, shared memory and slots for CTAs
    outer_memory,
    on_chip, // networks and stores below it; on GPUs the L2 cache
    link,    // to the host
    latency, // ramp-up, drain, gathering
    power,
    launch
};
std::string_view limit_name(Limit limit);

struct StepBound {
    double macs_per_cycle = 0.0;
    std::string limit;  // the limiting dimension or resource: "axis y", "DRAM bus: weight"
    std::string reason; // one sentence why
    Limit kind = Limit::arithmetic;

    bool operator==(const StepBound&) const = default;
};

// Index 0 is step 1. Operators without MACs count two of their operations as one MAC.
using Chain = std::array<StepBound, kSteps>;

// An error "chain-rises" for each step whose bound exceeds the one before it by more than rounding,
// and for bounds that are not finite or not positive. A violation is a bug, never an output.
Diagnostics check_chain(const Chain& chain, std::string_view what);

} // namespace eyeroof::model
