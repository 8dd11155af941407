// The seven steps of one candidate on a processor, in closed form: what each constraint leaves of
// its throughput, and what is moved where.
// Read by the features, by the analytic strategy and by the synthetic target.
#pragma once

#include "analysis/trials/cpu_plan.hpp"

#include <array>

namespace eyeroof::analysis::tune {

// One loop of the nest around the tile's own, innermost first: its trips, and what all loops up to
// and with it touch, bytes.
struct CpuLoop {
    Axis axis = Axis::depth;
    double trips = 1.0;
    double rows_bytes = 0.0; // the input
    double cols_bytes = 0.0; // the weights
    double out_bytes = 0.0;
    double macs = 0.0; // done by then

    double footprint() const { return rows_bytes + cols_bytes + out_bytes; }
};

inline constexpr std::size_t kCpuLoops = 6; // depth in a tile, two of tiles, three of blocks

// clang-format off
// Bounds in MAC/cycle, none above the one before:
//   B1 workload      all MACs at once
//   B2 dataflow      rows x cols: the sum over channels and taps runs one after the other
//   B3 units         threads x pipes x lanes
//   B4 dimensions    B3 x length/lanes x rows and cols that tiles waste x threads' even shares
//   B5 storage       B4 x min(1, tile_rows tile_vectors / (latency pipes)): accumulators that hide latency
//   B6 bandwidth     MACs / max(compute at B5, loads, L2, L3, memory)
//   B7 instants      MACs / (those cycles + issue slots lost + tiles' beginnings and ends + packing)
// Traffic into a cache: the loops up to the outermost whose touched bytes it holds are served by
// it; each loop around brings their tensors again, but one that does not move a tensor right
// around them. Source: own, after docs/mapper.md.
// clang-format on
struct CpuChain {
    std::array<double, 7> bound{};
    std::size_t limiter = 0;                // step (from 0) that costs the largest share
    std::array<CpuLoop, kCpuLoops> loops{}; // innermost first
    double compute_cycles = 0.0;            // at B5
    double load_cycles = 0.0;               // of loads into registers
    std::array<double, 3> traffic_bytes{};  // into L1, L2, L3
    std::array<double, 3> traffic_cycles{};
    double start_cycles = 0.0; // beginnings and ends of tiles
    double issue_cycles = 0.0; // beyond the step before
    double pack_cycles = 0.0;
    double seconds = 0.0; // at the machine's clock

    double loss(std::size_t step) const { // share that a step costs, 0 for the first
        return step == 0 ? 0.0 : 1.0 - bound[step] / bound[step - 1];
    }
};

CpuChain cpu_chain(const Workload& work, const CpuPlan& plan, const CpuMachine& machine);

} // namespace eyeroof::analysis::tune
