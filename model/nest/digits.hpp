// Arithmetic of a dimension's loops outside a tile, seen as the digits of a number: which
// combinations of trips are not empty, and how much of the dimension they cover when the last one
// is partial. Called by the counts of a mapping's cost and by the mapper. Knows nothing of
// operands, levels or machines.
#pragma once

#include "model/base/checked.hpp"

#include <span>
#include <vector>

namespace eyeroof::model::nest {

// A loop: `bound` trips, each `stride` further along the dimension than the one before. In a list
// the outermost comes first and no stride is smaller than what the digits after it can reach.
struct Digit {
    Count bound = 1;
    Count stride = 1;

    bool operator==(const Digit&) const = default;
};

// Combinations of trips whose offset lies below `bound`. They are the first ones in loop order.
Count visits(Count bound, std::span<const Digit> digits);

// Offset along the dimension of the combination with this index in loop order.
Count offset_of(Count index, std::span<const Digit> digits);

// Sum over all combinations of the extent that a tile of `tile` has there, clipped at `bound`.
Count covered(Count bound, std::span<const Digit> digits, Count tile);

} // namespace eyeroof::model::nest
