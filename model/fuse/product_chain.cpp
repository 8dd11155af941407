#include "model/fuse/product_chain.hpp"

#include "model/fuse/windows.hpp"

#include <algorithm>
#include <tuple>

namespace eyeroof::model::fuse {

namespace {

// Words of a row that the widest phase holds.
Count widest_phase(const ProductChain& chain, const std::vector<bool>& slices) {
    const std::vector<Count>& d = chain.widths;
    Count widest = 0;
    for (std::size_t j = 0; j < d.size(); ++j) {
        if (slices[j]) {
            widest =
                std::max(widest, (j > 0 ? d[j - 1] : 0) + 1 + (j + 1 < d.size() ? d[j + 1] : 0));
        } else if (j > 0 && !slices[j - 1]) {
            widest = std::max(widest, d[j - 1] + d[j]);
        }
    }
    return widest;
}

// Every set of columns that pass in slices, no two of them neighbors: its widest phase, and one set
// that has it. Only the narrowest counts, since nothing else depends on the set.
std::vector<bool> narrowest(const ProductChain& chain) {
    const std::size_t planes = chain.widths.size();
    std::vector<bool> best(planes, false);
    Count least = widest_phase(chain, best);
    for (unsigned set = 1; set < 1U << planes; ++set) {
        if ((set & set << 1U) != 0) {
            continue;
        }
        std::vector<bool> slices(planes);
        bool allowed = true;
        for (std::size_t j = 0; j < planes; ++j) {
            slices[j] = (set >> j & 1U) != 0;
            allowed = allowed && !(slices[j] && chain.whole_rows[j]);
        }
        const Count width = allowed ? widest_phase(chain, slices) : least;
        if (width < least) {
            least = width;
            best = slices;
        }
    }
    return best;
}

Count words_of(const ProductChain& chain, std::size_t product) {
    return checked_mul(chain.widths[product], chain.widths[product + 1]).value_or(-1);
}

} // namespace

std::optional<ChainCost> cost_of(const ProductChain& chain, const ChainTiling& tiling) {
    const Count tiles = ceil_div(chain.m, tiling.rows);
    std::optional<Count> traffic = checked_mul(chain.m, chain.widths.front());
    std::optional<Count> capacity = checked_mul(tiling.rows, widest_phase(chain, tiling.slices));
    const auto add = [](std::optional<Count>& sum, std::optional<Count> more) {
        sum = sum && more ? checked_add(*sum, *more) : std::nullopt;
    };
    add(traffic, checked_mul(chain.m, chain.widths.back()));
    bool again = false;
    for (std::size_t i = 0; i < chain.products(); ++i) {
        const Count words = words_of(chain, i);
        if (words < 0) {
            return std::nullopt;
        }
        add(traffic, tiling.stays[i] ? std::optional(words) : checked_mul(words, tiles));
        add(capacity, tiling.stays[i] ? words : 0);
        again = again || !tiling.stays[i];
    }
    add(capacity, again ? 1 : 0);
    return traffic && capacity ? std::optional(ChainCost{*traffic, *capacity}) : std::nullopt;
}

std::optional<ChainChoice> best_tiling(const ProductChain& chain, Count words) {
    if (chain.products() < 1 || chain.products() > kLongestChain) {
        return std::nullopt;
    }
    std::optional<ChainChoice> best;
    ChainTiling tiling{1, narrowest(chain), std::vector<bool>(chain.products(), false)};
    for (const Count rows : tile_sizes(chain.m)) {
        tiling.rows = rows;
        for (unsigned set = 0; set < 1U << chain.products(); ++set) {
            for (std::size_t i = 0; i < chain.products(); ++i) {
                tiling.stays[i] = (set >> i & 1U) != 0;
            }
            const auto cost = cost_of(chain, tiling);
            if (cost && cost->capacity <= words &&
                (!best || std::tuple(cost->traffic, cost->capacity) <
                              std::tuple(best->cost.traffic, best->cost.capacity))) {
                best = ChainChoice{tiling, *cost};
            }
        }
    }
    return best;
}

} // namespace eyeroof::model::fuse
