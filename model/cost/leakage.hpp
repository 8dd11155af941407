// Energy that a machine loses while time goes by, whatever it does: of stores and MAC units, a
// leakage in pJ for each core clock cycle and instance. E = cycles * sum(leakage * instances), with
// all instances there are, or, on a machine that cuts idle ones off from power, those that the
// mapping spreads over (as Timeloop bills them). Called wherever the time of a mapping is known;
// the searches bound it from below.
#pragma once

#include "model/accelerator/mapping.hpp"
#include "model/cost/cost.hpp"

namespace eyeroof::model {

// pJ per cycle of one instance: of a level with its stores, or of a MAC unit (levels.size()).
double leak_of_instance(const Accelerator& accelerator, std::size_t level);
bool leaks(const Accelerator& accelerator);

// pJ per cycle of the whole machine: under a mapping, and the least under any.
double leak_pj_per_cycle(const Accelerator& accelerator, const Mapping& mapping);
double least_leak_pj_per_cycle(const Accelerator& accelerator);

// What leaks in so many cycles becomes part of the energy; once for each cost.
void add_leakage(const Accelerator& accelerator, const Mapping& mapping, double cycles,
                 MappingCost& cost);

} // namespace eyeroof::model
