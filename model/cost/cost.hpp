// What a mapping costs: exact access counts, traffic per network, active PEs, energy and cycles.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/counting.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/problem.hpp"

#include <string>
#include <vector>

namespace eyeroof::model {

// Words per operand over all instances of a level. reads: sent down or to the MACs; fills: arriving
// from the level above; updates: partial or final sums arriving from below.
struct Accesses {
    Count reads = 0;
    Count fills = 0;
    Count updates = 0;

    bool operator==(const Accesses&) const = default;
};

struct LevelCost {
    PerOperand<Count> tile_words{};    // held by one instance; 0 when it does not keep the operand
    PerOperand<Accesses> total;        // over all instances
    PerOperand<Accesses> per_instance; // of the busiest instance
    PerOperand<double> energy_pj{};
    Count instances = 1; // that have work

    bool operator==(const LevelCost&) const = default;
};

// Words that cross the networks below a level, all instances together. down is counted at the
// source, after multicast; delivered at the receivers; up after spatial reduction.
struct EdgeTraffic {
    PerOperand<Count> down{};
    PerOperand<Count> delivered{};
    PerOperand<Count> up{};

    bool operator==(const EdgeTraffic&) const = default;
};

struct MappingCost {
    Count macs = 0;
    Count compute_steps = 0;         // cycles of one MAC per active unit, partial tiles included
    Count allocated_macs_units = 0;  // MAC units that the mapping gives work at some time
    double averaged_mac_units = 0.0; // macs / compute_steps
    std::vector<LevelCost> levels;   // as Accelerator::levels
    std::vector<EdgeTraffic> edges;  // edges[i] lies below levels[i]
    double mac_energy_pj = 0.0;
    double network_energy_pj = 0.0;
    double leakage_pj = 0.0;      // once the time is known: see model/cost/leakage.hpp
    double energy_pj = 0.0;       // MACs, all levels and networks, and what leaks
    double cycles = 0.0;          // perfect overlap: max of compute and every store and channel
    std::string cycles_limit;     // what that maximum is: "compute", "GLB read", "filter NoC"
    double moving_cycles = 0.0;   // the same without compute: the slowest store or channel
    std::size_t moving_level = 0; // where that one is

    bool operator==(const MappingCost&) const = default;
};

// The outermost level that keeps an operand is its home: nothing of it travels above that level.
// Errors: those of validate(mapping, …), and "overflow".
// Invariants, checked before it returns ("internal-bound" is a bug, never an output): MACs
// conserved, cycles >= MACs / units, traffic at the outermost level >= compulsory.
Result<MappingCost> cost_of(const Problem& problem, const Accelerator& machine,
                            const Mapping& mapping, Counting counting = Counting::eyeroof);

} // namespace eyeroof::model
