// Mappings of the dataflows that are named after what rests in a PE: WS, OS, IS, NLR, and RS+.
#pragma once

#include "mapper/preset/preset.hpp"

namespace eyeroof::mapper {

// Spreads the problem over the axes as Eyexam's step 4 does; grows the tile of every level,
// innermost first, by the dimension that saves the most traffic until its stores are full; orders
// the loops above the PEs so that the stationary operand rests, and those above each buffer by
// trying each operand. The fastest of these mappings is taken, then the one of least energy.
Result<Preset> stationary_mapping(const model::Problem& problem,
                                  const model::Accelerator& accelerator,
                                  const model::Dataflow& dataflow);

// All that it chooses from, different ones, the first of equals first; the machine's bandwidths
// have no part in them. Not all need be legal.
std::vector<model::Mapping> stationary_candidates(const model::Problem& problem,
                                                  const model::Accelerator& accelerator,
                                                  const model::Dataflow& dataflow);

} // namespace eyeroof::mapper
