// How zeros are left out of a store: ranks of a representation, and the bits that they cost.
//
// Sources: the ranks and their names, Wu et al., "Sparseloop", MICRO 2022; Eyeriss v1's run
// lengths, Chen et al., JSSC 52(1), 2017.
#pragma once

#include "base/checked.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace eyeroof::model::sparse {

enum class RankKind {
    uncompressed, // U    keeps every slot, no metadata
    bitmask,      // B    a bit a slot
    coordinates,  // CP   ceil(log2 places) bits a kept slot
    run_length,   // RLE  `bits` a kept slot, and a word for each full run of zeros
    offsets       // UOP  `bits` for every slot and one more: where its fiber begins
};

// One dimension of a stored tensor, outermost first; the product of `places` is the tensor's words.
struct Rank {
    RankKind kind = RankKind::uncompressed;
    Count places = 1;
    int bits = 0; // of a run (RLE) or an offset (UOP)

    bool operator==(const Rank&) const = default;
};

struct Stored {
    double words = 0.0;         // payload: kept words and the zeros that full runs leave
    double metadata_bits = 0.0; // everything else
    double bits(int word_bits) const { return words * word_bits + metadata_bits; }
};

// Expectation over words that are non-zero of their own with this density. A slot is kept where
// anything below it is not zero. At least one rank.
Stored stored(std::span<const Rank> ranks, double density);

// Bits a word of the original tensor, in long fibers.
//   run length  pair_bits d / (1 - (1 - d)^(2^run_bits)): a filler pair for each full run
double run_length_bits(double density, int run_bits, double pair_bits);

} // namespace eyeroof::model::sparse
