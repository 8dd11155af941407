// Arithmetic of a dimension's loops outside a tile, seen as the digits of a number: which
// combinations of trips are not empty, and how much of the dimension they cover when the last one
// is partial.
#pragma once

#include "base/checked.hpp"

#include <algorithm>
#include <span>

namespace eyeroof::model::nest {

// A loop: `bound` trips, each `stride` further along the dimension than the one before. In a list
// the outermost comes first and no stride is smaller than what the digits after it can reach.
struct Digit {
    Count bound = 1;
    Count stride = 1;

    bool operator==(const Digit&) const = default;
};

// Combinations of trips whose offset lies below `bound`. They are the first ones in loop order:
// loop order is the order of offsets, so the digits of the last one are found greedily.
inline Count visits(Count bound, std::span<const Digit> digits) {
    if (bound <= 0) {
        return 0;
    }
    Count left = bound - 1;
    Count last = 0;
    for (const Digit& digit : digits) {
        const Count trip = std::min(digit.bound - 1, left / digit.stride);
        left -= trip * digit.stride;
        last = last * digit.bound + trip;
    }
    return last + 1;
}

// Offset along the dimension of the combination with this index in loop order.
inline Count offset_of(Count index, std::span<const Digit> digits) {
    Count offset = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
        offset += index % digits[i].bound * digits[i].stride;
        index /= digits[i].bound;
    }
    return offset;
}

// Sum over all combinations of the extent that a tile of `tile` has there, clipped at `bound`.
inline Count covered(Count bound, std::span<const Digit> digits, Count tile) {
    const Count combinations = visits(bound, digits);
    if (combinations == 0) {
        return 0;
    }
    const Count last = bound - offset_of(combinations - 1, digits);
    return (combinations - 1) * tile + std::min(tile, last);
}

} // namespace eyeroof::model::nest
