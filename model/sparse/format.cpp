#include "model/sparse/format.hpp"

#include <bit>
#include <cmath>

namespace eyeroof::model::sparse {

namespace {

int bits_of_index(Count places) {
    return places <= 1 ? 0
                       : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(places - 1)));
}

// Words that stand for a full run of zeros, in a fiber of so many places kept with this share: the
// j-th (1, 2 …) slot of a run of zeros emits one where it is the last of a full run.
double fillers(Count places, double share, int run_bits) {
    const double pairs = run_length_bits(share, run_bits, 1.0);
    return share <= 0.0 ? std::floor(static_cast<double>(places) / std::exp2(run_bits))
                        : static_cast<double>(places) * (pairs - share);
}

} // namespace

Stored stored(std::span<const Rank> ranks, double density) {
    Count below = 1; // words under one slot of the rank
    for (const Rank& rank : ranks) {
        below *= rank.places;
    }
    Stored s;
    double fibers = 1.0;      // of this rank that are stored
    double coordinates = 1.0; // of this rank and those outside it, zero or not
    for (const Rank& rank : ranks) {
        below /= rank.places;
        const auto places = static_cast<double>(rank.places);
        coordinates *= places;
        const double something = 1.0 - std::pow(1.0 - density, static_cast<double>(below));
        const double kept = std::min(coordinates * something, fibers * places);
        double extra = 0.0;
        switch (rank.kind) {
        case RankKind::uncompressed:
            break;
        case RankKind::bitmask:
            s.metadata_bits += fibers * places;
            break;
        case RankKind::coordinates:
            s.metadata_bits += kept * bits_of_index(rank.places);
            break;
        case RankKind::run_length:
            extra = fibers * fillers(rank.places, kept / (fibers * places), rank.bits);
            s.metadata_bits += rank.bits * (kept + extra);
            break;
        case RankKind::offsets:
            s.metadata_bits += fibers * (places + 1.0) * rank.bits;
            break;
        }
        const bool keeps_all =
            rank.kind == RankKind::uncompressed || rank.kind == RankKind::offsets;
        fibers = keeps_all ? fibers * places : kept;
        s.words = fibers + extra;
    }
    return s;
}

double run_length_bits(double density, int run_bits, double pair_bits) {
    const double longest = std::exp2(run_bits);
    if (density <= 0.0) {
        return pair_bits / longest;
    }
    return pair_bits * density / -std::expm1(longest * std::log1p(-std::min(density, 1.0)));
}

} // namespace eyeroof::model::sparse
