// The cycles of a mapping when all transfers overlap: cycles of the slowest store or network.
#pragma once

#include "model/cost/cost.hpp"
#include "model/cost/latency_terms.hpp"

#include <vector>

namespace eyeroof::model::nest {

// What the networks below one instance of a level carry for one operand, for bandwidths.
struct Busy {
    Count down = 0;
    Count up = 0;
};

struct TransferCounts {
    const Problem& problem;
    const Accelerator& machine;
    const Mapping& mapping;
    Counting counting;
    const std::vector<PerOperand<Busy>>& busy; // by level
    std::vector<PortTraffic>* transfers;       // where each transfer is noted; nullptr: nowhere
};

// Sets cycles, cycles_limit, moving_cycles and moving_level from the counts of `cost`.
void set_bandwidth_cycles(const TransferCounts& counts, MappingCost& cost);

} // namespace eyeroof::model::nest
