#include "model/nest/digits.hpp"

#include <algorithm>

namespace eyeroof::model::nest {

// Loop order is the order of offsets, so the valid combinations are those up to the greatest offset
// below the bound, whose digits are found greedily.
Count visits(Count bound, std::span<const Digit> digits) {
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

Count offset_of(Count index, std::span<const Digit> digits) {
    Count offset = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
        offset += index % digits[i].bound * digits[i].stride;
        index /= digits[i].bound;
    }
    return offset;
}

Count covered(Count bound, std::span<const Digit> digits, Count tile) {
    const Count combinations = visits(bound, digits);
    if (combinations == 0) {
        return 0;
    }
    const Count last = bound - offset_of(combinations - 1, digits);
    return (combinations - 1) * tile + std::min(tile, last);
}

} // namespace eyeroof::model::nest
