// Least traffic of one matrix product, and of two whose middle result never leaves the chip, for a
// buffer of so many words: exact over stated spaces.
//
// Counting: an operand's tile is moved once for each advance of the outer loops, but for the run of
// innermost loops that it does not depend on (Timeloop's rule). Partial sums that come back are
// read as often as they were written, less once.
#pragma once

#include "base/checked.hpp"

#include <optional>
#include <vector>

namespace eyeroof::model::fuse {

struct Product { // C[m, n] = A[m, k] B[k, n]
    Count m = 1, n = 1, k = 1;

    bool operator==(const Product&) const = default;
};

struct Pair { // C[m, l] = A[m, k] B[k, l]; E[m, n] = C[m, l] D[l, n]
    Count m = 1, k = 1, l = 1, n = 1;

    Product first() const { return {m, l, k}; }
    Product second() const { return {m, n, l}; }
    bool operator==(const Pair&) const = default;
};

struct Point {         // of a front: no other needs less room for as little traffic
    Count words = 0;   // of the buffer
    Count traffic = 0; // words to and from outside

    bool operator==(const Point&) const = default;
};

// Capacity against least traffic, ascending in words, descending in traffic. Tiles divide; the
// buffer holds a tile of each operand; any order of the three outer loops. Exact for dimensions of
// up to 10^12; beyond, prime factors above 10^6 that are left together are not taken apart. Points
// whose traffic does not fit 63 bits are left out.
std::vector<Point> front_of(const Product& product);

// The same for a pair whose C stays in the buffer: shared outer loops over tiles of m and l in
// either order, inside first all of k and then all of n. Each of A, B, D and E is held as a slab
// through both phases or streamed through a tile.
std::vector<Point> front_of(const Pair& pair);

} // namespace eyeroof::model::fuse
