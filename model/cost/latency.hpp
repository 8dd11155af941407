// When things happen: the time of a mapping with ramp-up, drain and what cannot be overlapped.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/cost/cost.hpp"
#include "model/workload/problem.hpp"

#include <string>

namespace eyeroof::model {

// Core clock cycles of one execution; the parts add up to the whole.
struct Latency {
    double compute_cycles = 0.0; // MACs at one per active unit and cycle, partial tiles included
    double on_chip_stall_cycles = 0.0; // networks and stores below the outermost memory
    double outer_stall_cycles = 0.0;   // waiting for the outermost memory
    std::string limit;                 // the largest part that is not compute, and why

    double processing_cycles() const { return compute_cycles + on_chip_stall_cycles; }
    double total_cycles() const { return processing_cycles() + outer_stall_cycles; }
    bool operator==(const Latency&) const = default;
};

// The level whose networks feed the units: the innermost fan-out with storage inside; without one,
// the innermost fan-out.
std::size_t array_edge(const Accelerator& accelerator);

// Hops of the longest chain through the array when these loops are spread below the level `edge`:
// neighbours that add partial sums or pass operands on. Every pass drains through it.
double chain_hops(const Problem& problem, const Accelerator& accelerator, std::size_t edge,
                  const std::vector<SpatialLoop>& loops);

// Source and equations: see latency.cpp.
Latency latency_of(const Problem& problem, const Accelerator& accelerator, const Mapping& mapping,
                   const MappingCost& cost);

// The latency under Timeloop's convention: everything overlaps, nothing ramps up, so the slowest of
// units, stores and networks sets the time.
Latency overlapped_latency(const MappingCost& cost);

} // namespace eyeroof::model
