// Mappings of the dataflows that are named after what rests in a PE: WS, OS, IS, NLR, and RS+.
#pragma once

#include "mapper/preset/preset.hpp"
#include "model/eyexam/spatial_fit.hpp"

namespace eyeroof::mapper {

// What lies side by side on the array: loops in space by fan-out level.
using Spread = std::vector<std::vector<model::SpatialLoop>>;

// How the rules spread the problem over the axes, as Eyexam's step 4 does.
Spread stationary_spread(const model::Problem& problem, const model::Accelerator& accelerator,
                         const model::Dataflow& dataflow, model::SpatialFits& fits);

// Spreads the problem over the axes as Eyexam's step 4 does; grows the tile of every level,
// innermost first, by the dimension that saves the most traffic until its stores are full (that of
// the stationary operand, too, where the level before the PEs does not keep it); orders
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

// The same for a spread that is known. The sizes of the array have no other part in them.
std::vector<model::Mapping> stationary_candidates(const model::Problem& problem,
                                                  const model::Accelerator& accelerator,
                                                  const model::Dataflow& dataflow,
                                                  const Spread& spread);

} // namespace eyeroof::mapper
