// The row-stationary mapper of Eyeriss v1: logical sets of R x e PEs, strip-mined, folded,
// replicated.
#pragma once

#include "mapper/preset/preset.hpp"

namespace eyeroof::mapper {

// Parameters as in Chen et al., IEEE JSSC 52(1), 2017, Table II.
struct RowStationary {
    Count m = 1; // output channels whose psums rest in the buffer
    Count n = 1; // input maps of a pass
    Count e = 1; // output rows of a pass: width of a set
    Count p = 1; // filters of a PE
    Count q = 1; // channels of a PE
    Count r = 1; // sets on different channels
    Count t = 1; // sets on different filters

    auto operator<=>(const RowStationary&) const = default;
};

Result<Preset> row_stationary_mapping(const model::Problem& problem,
                                      const model::Accelerator& accelerator,
                                      const model::Dataflow& dataflow);

// All that it chooses from by (processing cycles, energy), the first of equals first; the machine's
// bandwidths have no part in them. Not all need be legal; none where the rules place nothing.
std::vector<model::Mapping> row_stationary_candidates(const model::Problem& problem,
                                                      const model::Accelerator& accelerator,
                                                      const model::Dataflow& dataflow);

} // namespace eyeroof::mapper
