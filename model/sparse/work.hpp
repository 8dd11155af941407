// What is left to do when zeros are left out: effectual MACs, words that a leader lets through, and
// the same counted over masks of real data.
//
// Leader and follower: Wu et al., "Sparseloop", MICRO 2022.
#pragma once

#include "model/sparse/nonzeros.hpp"

#include <vector>

namespace eyeroof::model::sparse {

// Both operands not zero, where their zeros are independent.
inline double effectual_macs(double macs, double input_density, double weight_density) {
    return macs * input_density * weight_density;
}

// Words of a follower's tile that are moved when it is skipped where the leader's tile is empty.
inline double followed_words(double follower_tile, const NonZeros& leader_tile) {
    return follower_tile * (1.0 - leader_tile.empty());
}

// A mask: one row a value of the shared index, one column a value of the other.
using Mask = std::vector<std::vector<bool>>;

// sum over the shared index c of nnz(a[c]) nnz(b[c]): exact effectual MACs of a product. Rows of
// both masks are the shared index; as many in both.
Count effectual_macs(const Mask& a, const Mask& b);

// Cycles of a PE that takes a non-zero input and with it the non-zero weights of its column,
// `lanes` a cycle (Eyeriss v2: 2): sum over non-zero inputs of ceil(nnz of the column / lanes).
Count column_cycles(const Mask& inputs, const Mask& weights, Count lanes);

// The same in expectation, for `inputs` words of that density over columns of `column` weights.
double column_cycles(double inputs, double input_density, const NonZeros& column, Count lanes);

} // namespace eyeroof::model::sparse
