// What is left to do when zeros are left out: effectual MACs, and words that a leader lets through.
//
// Leader and follower: Wu et al., "Sparseloop", MICRO 2022.
#pragma once

#include "model/sparse/nonzeros.hpp"

namespace eyeroof::model::sparse {

// Both operands not zero, where their zeros are independent.
inline double effectual_macs(double macs, double input_density, double weight_density) {
    return macs * input_density * weight_density;
}

// Words of a follower's tile that are moved when it is skipped where the leader's tile is empty.
inline double followed_words(double follower_tile, const NonZeros& leader_tile) {
    return follower_tile * (1.0 - leader_tile.empty());
}

} // namespace eyeroof::model::sparse
