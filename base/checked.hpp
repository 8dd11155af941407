// Integer arithmetic that refuses to overflow: counts of MACs, words and bytes are exact or absent.
// Used wherever sizes from outside are multiplied.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace eyeroof {

using Count = std::int64_t; // an exact number of MACs, words, bytes, cycles, loop trips

inline std::optional<Count> checked_mul(Count a, Count b) {
    Count product = 0;
    if (__builtin_mul_overflow(a, b, &product)) {
        return std::nullopt;
    }
    return product;
}

inline std::optional<Count> checked_add(Count a, Count b) {
    Count sum = 0;
    if (__builtin_add_overflow(a, b, &sum)) {
        return std::nullopt;
    }
    return sum;
}

inline std::optional<Count> checked_product(std::initializer_list<Count> factors) {
    std::optional<Count> product = 1;
    for (const Count factor : factors) {
        product = product ? checked_mul(*product, factor) : std::nullopt;
    }
    return product;
}

// Smallest integer >= a/b for a >= 0, b > 0; does not overflow for any such a, b.
constexpr Count ceil_div(Count a, Count b) {
    return a / b + (a % b != 0 ? 1 : 0);
}

} // namespace eyeroof
