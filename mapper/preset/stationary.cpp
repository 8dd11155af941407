#include "mapper/preset/stationary.hpp"

#include "model/accelerator/data_width.hpp"
#include "model/accelerator/residency.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/eyexam/spatial_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace eyeroof::mapper {

using namespace model; // NOLINT(google-build-using-namespace): one file, one vocabulary

namespace {

// In how many pieces at least the stores take kernels and rows: smaller tiles than would fit, so
// that one arrives while another is in use.
struct Pieces {
    Count kernels = 1;
    Count rows = 1;
};

// Pieces help where some store takes the next tile early. More of them than there are kernels or
// rows make no other tiles.
std::vector<Pieces> piece_choices(const Problem& problem, const Accelerator& accelerator) {
    const auto early = [](const Store& store) { return store.prefetch || store.buffers > 1; };
    bool any = false;
    for (std::size_t i = 1; i + 1 < accelerator.levels.size(); ++i) {
        const auto& stores = accelerator.levels[i].stores;
        any = any || std::any_of(stores.begin(), stores.end(), early);
    }
    std::vector<Pieces> choices;
    const Extents bounds = loop_bounds(problem);
    const auto pieces = [&](Dim d) {
        std::vector<Count> different = {1};
        for (const Count more : {4, 16}) {
            if (std::min(more, bounds[index(d)]) > different.back()) {
                different.push_back(more);
            }
        }
        return different;
    };
    for (const Count kernels : pieces(Dim::K)) {
        for (const Count rows : pieces(Dim::P)) {
            choices.push_back({kernels, rows});
        }
    }
    choices.resize(any ? choices.size() : 1);
    return choices;
}

// What decides whether tiles fit a level, read from the machine once: a sweep builds tiles for
// thousands of spreads.
struct LevelStores {
    struct Limited {
        const Store* store = nullptr;
        Count capacity_bytes = 0;
        OperandSet operands; // that the problem has
    };
    std::vector<Limited> limited;
    PerOperand<int> bits{};
    OperandSet may_bypass; // stored here, not necessarily
    OperandSet forced;     // kept here, and necessarily
};

std::vector<LevelStores> level_stores(const Problem& problem, const Accelerator& accelerator,
                                      const std::vector<OperandSet>& keeps) {
    std::vector<LevelStores> levels(accelerator.levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i) {
        for (const Operand o : kAllOperands) {
            levels[i].bits[index(o)] = bits_at(accelerator, i, o);
            const Store* store = store_of(accelerator.levels[i], o);
            if (store != nullptr && store->may_bypass) {
                levels[i].may_bypass.insert(o);
            } else if (store != nullptr && keeps[i].contains(o)) {
                levels[i].forced.insert(o);
            }
        }
        for (const Store& store : accelerator.levels[i].stores) {
            if (store.capacity_bytes) {
                levels[i].limited.push_back({&store, *store.capacity_bytes, store.operands});
                if (!problem.has_weight) {
                    levels[i].limited.back().operands.erase(Operand::weight);
                }
            }
        }
    }
    return levels;
}

// The tile under construction: what lies at and below the level that grows.
class Builder {
  public:
    Builder(const Problem& problem, const Accelerator& accelerator, const Spread& spread,
            bool hand_over)
        : problem_(problem), bounds_(loop_bounds(problem)),
          keeps_(default_keeps(problem, accelerator, hand_over)),
          stores_(level_stores(problem, accelerator, keeps_)),
          homes_(home_levels(problem, accelerator, hand_over)), spatial_(spread) {}

    // The tiles of all levels: a mapping whose loops in time stand in no order yet. `rests`: what
    // rests in a PE while the loops of the level before it run, also where that does not keep it.
    Mapping tiles(const Pieces& pieces, OperandSet rests) {
        pieces_ = pieces;
        Mapping mapping;
        mapping.levels.resize(stores_.size());
        Extents tile = kOnes;
        for (std::size_t i = mapping.levels.size(); i-- > 0;) {
            LevelMapping& level = mapping.levels[i];
            level.keeps = keeps_[i];
            for (SpatialLoop loop : spatial_[i]) {
                loop.bound = std::min(loop.bound, trips_left(tile, loop.dim));
                if (loop.bound > 1) {
                    level.spatial.push_back(loop);
                    tile[index(loop.dim)] *= loop.bound;
                }
            }
            drop_what_cannot_fit(i, level, tile);
            const bool feeds = i + 2 == mapping.levels.size();
            Extents trips = i == 0 ? remaining(tile)
                                   : grow(i, level.keeps, feeds ? rests : OperandSet(), tile,
                                          spread_outside(i));
            finish_at_home(i, tile, trips);
            for (const Dim d : kAllDims) {
                tile[index(d)] *= trips[index(d)];
                if (trips[index(d)] > 1) {
                    level.temporal.push_back({d, trips[index(d)]});
                }
            }
        }
        return mapping;
    }

  private:
    Count trips_left(const Extents& tile, Dim d) const {
        return ceil_div(bounds_[index(d)], std::min(tile[index(d)], bounds_[index(d)]));
    }
    Extents remaining(const Extents& tile) const {
        Extents trips = kOnes;
        for (std::size_t d = 0; d < kDims; ++d) {
            trips[d] = tile[d] == 1 ? bounds_[d] : trips_left(tile, kAllDims[d]);
        }
        return trips;
    }
    Extents clipped(const Extents& tile) const {
        Extents c = tile;
        for (std::size_t d = 0; d < kDims; ++d) {
            c[d] = std::min(c[d], bounds_[d]);
        }
        return c;
    }

    bool fits(std::size_t level, OperandSet keeps, const Extents& tile) const {
        const LevelStores& here = stores_[level];
        const Extents inside = clipped(tile);
        for (const LevelStores::Limited& limited : here.limited) {
            Count held = 0;
            for (const Operand o : kAllOperands) {
                if (!limited.operands.contains(o) || !keeps.contains(o)) {
                    continue;
                }
                const auto bytes = bytes_in(*limited.store, tile_elements(problem_, o, inside),
                                            here.bits[index(o)]);
                if (!bytes || *bytes > limited.capacity_bytes - held) {
                    return false;
                }
                held += *bytes;
            }
        }
        return true;
    }

    // Whether stores further out that cannot be passed by hold this tile of a level, side by side
    // as the fan-outs between them spread it.
    bool leaves_room(std::size_t level, Extents tile) const {
        for (std::size_t i = level; i-- > 1;) {
            for (const SpatialLoop& loop : spatial_[i]) {
                tile[index(loop.dim)] *= std::min(loop.bound, trips_left(tile, loop.dim));
            }
            if (!stores_[i].forced.empty() && !fits(i, stores_[i].forced, tile)) {
                return false;
            }
        }
        return true;
    }

    // Operands whose smallest tile overflows a store pass by it, where the machine lets them.
    void drop_what_cannot_fit(std::size_t i, LevelMapping& level, const Extents& tile) const {
        const OperandSet may_bypass = stores_[i].may_bypass;
        for (const Operand o : kAllOperands) {
            if (level.keeps.contains(o) && may_bypass.contains(o) && !fits(i, {o}, tile)) {
                level.keeps.erase(o);
            }
        }
        for (const Operand o : {Operand::weight, Operand::input, Operand::output}) {
            if (i > 0 && may_bypass.contains(o) && !fits(i, level.keeps, tile)) {
                level.keeps.erase(o);
            }
        }
    }

    // By dimension: words from above that one more doubling of it would halve, those of the kept
    // operands that it does not address.
    std::array<double, kDims> savings(OperandSet keeps, const Extents& tile) const {
        std::array<double, kDims> saved{};
        const Extents trips = remaining(tile);
        const Extents inside = clipped(tile);
        for (const Operand o : kAllOperands) {
            if (!keeps.contains(o)) {
                continue;
            }
            double total = static_cast<double>(tile_elements(problem_, o, inside));
            for (const Count t : trips) {
                total *= static_cast<double>(t);
            }
            for (std::size_t d = 0; d < kDims; ++d) {
                saved[d] += relevant(o, kAllDims[d]) ? 0.0 : total;
            }
        }
        return saved;
    }

    // Nothing of an operand travels above its home, so all loops that address it end there.
    void finish_at_home(std::size_t level, const Extents& tile, Extents& trips) const {
        for (const Operand o : kAllOperands) {
            const bool absent = o == Operand::weight && !problem_.has_weight;
            for (const Dim d : kAllDims) {
                if (!absent && homes_[index(o)] == level && relevant(o, d)) {
                    trips[index(d)] = trips_left(tile, d);
                }
            }
        }
    }

    // What the fan-outs of the levels further out will spread: not to be used up by tiles in time.
    Extents spread_outside(std::size_t level) const {
        Extents spread = kOnes;
        for (std::size_t i = 0; i < level; ++i) {
            for (const SpatialLoop& loop : spatial_[i]) {
                spread[index(loop.dim)] *= loop.bound;
            }
        }
        return spread;
    }

    // Trips of a dimension at a level: what is left for it, in pieces if that is asked for.
    Count most_trips(const Extents& below, const Extents& reserved, Dim d) const {
        const Count left = ceil_div(trips_left(below, d), reserved[index(d)]);
        const Count pieces = d == Dim::K ? pieces_.kernels : d == Dim::P ? pieces_.rows : 1;
        return ceil_div(left, std::min(left, pieces));
    }

    Extents grow(std::size_t level, OperandSet keeps, OperandSet rests, const Extents& below,
                 const Extents& reserved) const {
        OperandSet saves = keeps;
        for (const Operand o : kAllOperands) {
            if (rests.contains(o)) {
                saves.insert(o);
            }
        }
        Extents trips = kOnes;
        Extents most = kOnes;
        for (const Dim d : kAllDims) {
            most[index(d)] = most_trips(below, reserved, d);
        }
        Extents tile = below;
        for (bool grew = true; grew;) {
            grew = false;
            const std::array<double, kDims> saved = savings(saves, tile);
            std::array<std::size_t, kDims> order{}; // most saved first
            std::iota(order.begin(), order.end(), std::size_t{0});
            std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
                return saved[a] != saved[b] ? saved[a] > saved[b] : a < b;
            });
            for (const std::size_t d : order) {
                if (saved[d] <= 0.0 || trips[d] >= most[d]) {
                    continue;
                }
                // equal tiles instead of full ones and a small rest
                const Count next =
                    ceil_div(most[d], ceil_div(most[d], std::min(most[d], trips[d] * 2)));
                Extents larger = tile;
                larger[d] = below[d] * next;
                if (next > trips[d] && fits(level, keeps, larger) && leaves_room(level, larger)) {
                    trips[d] = next;
                    tile = larger;
                    grew = true;
                    break;
                }
            }
        }
        return trips;
    }

    const Problem& problem_;
    Extents bounds_;
    Pieces pieces_;
    std::vector<OperandSet> keeps_;
    std::vector<LevelStores> stores_;
    PerOperand<std::size_t> homes_;
    const Spread& spatial_;
};

// TripLoops that do not address the resting operand go innermost.
std::vector<TemporalLoop> ordered(const std::vector<TemporalLoop>& loops, Operand rests) {
    std::vector<TemporalLoop> in_order;
    for (const bool inner : {false, true}) {
        for (const Dim d : {Dim::G, Dim::N, Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S}) {
            for (const TemporalLoop& loop : loops) {
                if (loop.dim == d && relevant(rests, d) != inner) {
                    in_order.push_back(loop);
                }
            }
        }
    }
    return in_order;
}

void add_different(std::vector<Mapping>& all, Mapping mapping) {
    if (std::find(all.begin(), all.end(), mapping) == all.end()) {
        all.push_back(std::move(mapping));
    }
}

using TripLoops = std::vector<TemporalLoop>;

// For every level the orders of its loops that differ, each made so that some operand rests; the
// level whose loops the innermost storage sees is fixed by the stationary operand. Of a machine
// with more levels of a choice than the search takes, the outer ones keep their first order: the
// combinations grow as a power of the levels.
std::vector<std::vector<TripLoops>> loop_orders(const Mapping& tiles, const Dataflow& dataflow) {
    constexpr std::size_t kMostChoices = 8;
    const std::size_t levels = tiles.levels.size();
    const std::size_t feeding = levels >= 2 ? levels - 2 : 0;
    std::vector<std::vector<TripLoops>> orders(levels);
    std::size_t choices = 0;
    for (std::size_t i = levels; i-- > 0;) {
        for (const Operand o : kAllOperands) {
            if (i == feeding && dataflow.stationary && o != *dataflow.stationary) {
                continue;
            }
            TripLoops loops = ordered(tiles.levels[i].temporal, o);
            if (std::find(orders[i].begin(), orders[i].end(), loops) == orders[i].end() &&
                (orders[i].empty() || choices < kMostChoices)) {
                orders[i].push_back(std::move(loops));
            }
        }
        choices += orders[i].size() > 1 ? 1 : 0;
    }
    return orders;
}

// The tiles with every combination of orders, the innermost level's changing first.
void add_orders(const Mapping& tiles, const std::vector<std::vector<TripLoops>>& orders,
                std::vector<Mapping>& all) {
    std::vector<std::size_t> chosen(orders.size(), 0);
    std::size_t level = 0;
    do {
        Mapping mapping = tiles;
        for (std::size_t i = 0; i < orders.size(); ++i) {
            mapping.levels[i].temporal = orders[i][chosen[i]];
        }
        all.push_back(std::move(mapping));
        level = orders.size();
        while (level > 0 && ++chosen[level - 1] == orders[level - 1].size()) {
            chosen[--level] = 0;
        }
    } while (level > 0);
}

// The fastest mapping so far, then the one of least energy.
struct Choice {
    std::optional<std::pair<double, double>> best; // cycles, pJ
    Mapping mapping;
    Diagnostics why; // of the last one that was not legal

    void offer(const Problem& problem, const Accelerator& accelerator, Mapping candidate) {
        const auto cost = cost_of(problem, accelerator, candidate);
        if (!cost) {
            why = cost.diagnostics();
            return;
        }
        const double cycles = latency_of(problem, accelerator, candidate, *cost).total_cycles();
        const std::pair key(cycles, cost->energy_pj);
        if (!best || key < *best) {
            best = key;
            mapping = std::move(candidate);
        }
    }
};

} // namespace

Spread stationary_spread(const Problem& problem, const Accelerator& accelerator,
                         const Dataflow& rules, SpatialFits& fits) {
    const Dataflow dataflow = dataflow_for(problem, rules);
    const std::vector<FitAxis> axes = fit_axes(accelerator, dataflow);
    const SpatialFit fit = fits.best(loop_bounds(problem), axes, dataflow.whole);
    Spread spread(accelerator.levels.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
        for (const Dim d : kAllDims) {
            if (fit.factors[a][index(d)] > 1) {
                spread[axes[a].level].push_back({d, fit.factors[a][index(d)], axes[a].axis});
            }
        }
    }
    return spread;
}

std::vector<Mapping> stationary_candidates(const Problem& problem, const Accelerator& accelerator,
                                           const Dataflow& rules) {
    SpatialFits fits;
    return stationary_candidates(problem, accelerator, rules,
                                 stationary_spread(problem, accelerator, rules, fits));
}

std::vector<Mapping> stationary_candidates(const Problem& problem, const Accelerator& accelerator,
                                           const Dataflow& rules, const Spread& spread) {
    const Dataflow dataflow = dataflow_for(problem, rules);
    const bool may_hand_over =
        home_levels(problem, accelerator, true) != home_levels(problem, accelerator, false);
    const std::size_t feeding = std::max<std::size_t>(accelerator.levels.size(), 2) - 2;
    const bool rests_apart = dataflow.stationary &&
                             store_of(accelerator.levels[feeding], *dataflow.stationary) == nullptr;
    std::vector<Mapping> tilings;
    for (const bool hand_over : {true, false}) {
        if (hand_over && !may_hand_over) {
            continue;
        }
        Builder builder(problem, accelerator, spread, hand_over);
        for (const Pieces& pieces : piece_choices(problem, accelerator)) {
            add_different(tilings, builder.tiles(pieces, {}));
            if (rests_apart) {
                add_different(tilings, builder.tiles(pieces, {*dataflow.stationary}));
            }
        }
    }
    std::vector<Mapping> candidates; // different ones: so are the tilings, and each one's orders
    for (const Mapping& tiles : tilings) {
        add_orders(tiles, loop_orders(tiles, dataflow), candidates);
    }
    return candidates;
}

Result<Preset> stationary_mapping(const Problem& problem, const Accelerator& accelerator,
                                  const Dataflow& rules) {
    Choice choice;
    for (Mapping& candidate : stationary_candidates(problem, accelerator, rules)) {
        choice.offer(problem, accelerator, std::move(candidate));
    }
    if (!choice.best) {
        choice.why.error("no-mapping",
                         fmt::format("the rules of {} find no mapping of {}",
                                     dataflow_name(rules.kind), problem.name),
                         "a store that cannot be bypassed may be too small for one tile");
        return Result<Preset>(std::move(choice.why));
    }
    return Result<Preset>(Preset{std::move(choice.mapping), {}});
}

} // namespace eyeroof::mapper
