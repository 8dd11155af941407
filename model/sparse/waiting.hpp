// What a mapping on a machine that skips zeros loses besides the MACs that it does: lanes that are
// not full, and units that wait for the slowest.
//
// Units are together again at the end of each pass (model/nest/latency.cpp): what one does in a
// pass is a draw. A unit's work is the share of its inputs that are not zero times that of its
// weights; units on one line of the array share the one or the other, so over all of them
//   E[slowest] / E[mean] = (E[max of Pi] / mean) (E[max of Pw] / mean)
// with Pi different tiles of inputs of Ni words a pass and Pw of weights of Nw words.
#pragma once

#include "model/cost/cost.hpp"
#include "model/sparse/rules.hpp"
#include "model/sparse/step.hpp"

namespace eyeroof::model::sparse {

struct Waiting {
    double lanes = 1.0;   // cycles over those with full lanes: ceilings
    double slowest = 1.0; // cycles over those of the mean unit

    bool operator==(const Waiting&) const = default;
};

// 1 and 1 where the units skip nothing. `passes`: LatencyTerms::passes of the mapping. Never more
// than the dense machine takes.
Waiting waiting_of(const Problem& problem, const Accelerator& machine, const Rules& rules,
                   const Densities& densities, const Mapping& mapping, const MappingCost& cost,
                   double passes);

} // namespace eyeroof::model::sparse
