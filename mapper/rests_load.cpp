#include "mapper/exact.hpp"
#include "mapper/rests.hpp"
#include "model/cost/arrival.hpp"
#include "model/nest/digits.hpp"

#include <algorithm>
#include <cmath>

// A leaf as step 7 sees it: how often the loops of each block advance, and which tiles come early.

namespace eyeroof::mapper {

using namespace model;

void Rests::load_blocks(const std::array<std::uint32_t, kGroups>& chains) {
    blocks_.fill({});
    for (std::size_t g = 0; g < kGroups; ++g) {
        const Group& group = space_.groups[g];
        const Chain& chain = group.chains[chains[g]];
        for (std::size_t n = 0; n < group.dims.size(); ++n) {
            load_dim(group.dims[n], n == 0 ? chain.first : chain.tap);
        }
    }
    steps_ = 1.0;
    for (const Dim d : kAllDims) {
        steps_ *= blocks_[edge_].advances[index(d)];
    }
}

void Rests::load_dim(Dim dim, const Split& split) {
    std::array<nest::Digit, kMaxLevels> digits; // of all blocks
    Count stride = 1;
    for (std::size_t i = levels_; i-- > 0;) {
        stride *= split.spatial[i];
        digits[i] = {split.temporal[i], stride};
        stride *= split.temporal[i];
    }
    const Count bound = task_.problem.bounds[index(dim)];
    for (std::size_t i = 0; i < levels_; ++i) {
        if (split.temporal[i] > 1) {
            blocks_[i].dims.insert(dim);
        }
        mapping_.levels[i].temporal[index(dim)].bound = split.temporal[i];
        mapping_.levels[i].spatial[index(dim)].bound = split.spatial[i];
        blocks_[i].advances[index(dim)] = static_cast<double>(
            nest::visits(bound, std::span<const nest::Digit>(digits).first(i + 1)));
    }
}

void Rests::load_tiles() {
    early_edge_ = {};
    early_outer_ = {};
    for (ChannelCycles& way : at_edge_) {
        way.first = {};
    }
    const Problem& problem = task_.problem;
    const Extents tile = spread_tile(problem, mapping_, edge_, edge_ + 1);
    for (const Operand o : kAllOperands) {
        if (!present_.contains(o)) {
            continue;
        }
        if (arrives_early(problem, task_.machine, mapping_, edge_, o)) {
            early_edge_.insert(o);
        }
        if (edge_ > 0 && arrives_early(problem, task_.machine, mapping_, 0, o)) {
            early_outer_.insert(o);
        }
        const bool primes =
            o != problem.produced && kept_inside_.contains(o) && !early_edge_.contains(o);
        for (ChannelCycles& way : at_edge_) {
            if (primes && way.operands.contains(o)) {
                way.first[index(o)] =
                    static_cast<double>(tile_elements(problem, o, tile)) * way.down[index(o)];
            }
        }
    }
}

void Rests::load(const std::array<std::uint32_t, kGroups>& chains, const double* product) {
    load_blocks(chains);
    compute_ = product[space_.steps];
    instances_ = 1.0;
    for (std::size_t i = 0; i < edge_; ++i) {
        instances_ *= product[space_.spatial[i]];
    }
    hops_ = hops_of(chains);
    load_tiles();
}

// Of the placement with the fewest; none where the trips in space fit no axes, as realise() says.
double Rests::hops_of(const std::array<std::uint32_t, kGroups>& chains) {
    Extents spread = kOnes;
    for (const SpatialLoop& loop : mapping_.levels[edge_].spatial) {
        spread[index(loop.dim)] = loop.bound;
    }
    const auto at = known_hops_.find(spread);
    if (at != known_hops_.end() && task_.factors == Factors::perfect) {
        return at->second;
    }
    const double hops = fewest_hops(task_, space_, chains).least;
    return known_hops_[spread] = std::isfinite(hops) ? hops : 0.0;
}

} // namespace eyeroof::mapper
