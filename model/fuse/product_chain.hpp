// Least traffic of a chain of matrix products X_i[m, d_i] = X_{i-1}[m, d_{i-1}] W_i whose results
// in between never leave the chip, for a buffer of so many words.
//
// Rows go through the whole chain in tiles. Within a tile of t rows each X_j is held whole, or
// passes in slices of one column: then X_{j-1} and X_{j+1} are held whole, so that no two
// neighbors pass in slices. X_0 and X_N may pass in slices as well. Each weight stays for all
// tiles, or comes again for each of them, a word at a time.
//   traffic  = m d_0 + m d_N + sum_i |W_i| (stays: 1, else number of tiles)
//   capacity = weights that stay + 1 (where one comes again) + t * widest phase, of which
//              X_{j-1} to X_j whole: d_{j-1} + d_j;  X_j in slices: d_{j-1} + 1 + d_{j+1}
#pragma once

#include "base/checked.hpp"

#include <optional>
#include <vector>

namespace eyeroof::model::fuse {

struct ProductChain {
    Count m = 1;
    std::vector<Count> widths;    // d_0 … d_N, N at least 1
    std::vector<bool> whole_rows; // beside widths: what is applied there needs a row at once

    std::size_t products() const { return widths.size() - 1; }
    bool operator==(const ProductChain&) const = default;
};

struct ChainTiling {
    Count rows = 1;           // of a tile
    std::vector<bool> slices; // beside widths: passes in slices
    std::vector<bool> stays;  // of each weight
    bool operator==(const ChainTiling&) const = default;
};

struct ChainCost {
    Count traffic = 0;
    Count capacity = 0;
    bool operator==(const ChainCost&) const = default;
};

// Nothing where a figure does not fit 63 bits.
std::optional<ChainCost> cost_of(const ProductChain& chain, const ChainTiling& tiling);

struct ChainChoice {
    ChainTiling tiling;
    ChainCost cost;
    bool operator==(const ChainChoice&) const = default;
};

// The tiling with the least traffic, then capacity, that fits into so many words; nothing where
// none does. Exact among all numbers of rows in tile_sizes(m) (windows.hpp), all sets of slices and
// all sets of weights that stay, for chains of up to kLongestChain products.
inline constexpr std::size_t kLongestChain = 12;
std::optional<ChainChoice> best_tiling(const ProductChain& chain, Count words);

} // namespace eyeroof::model::fuse
