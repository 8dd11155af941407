#include "mapper/reported.hpp"
#include "mapper/space.hpp"
#include "model/accelerator/data_width.hpp"
#include "model/accelerator/residency.hpp"
#include "model/nest/digits.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace eyeroof::mapper {

using namespace model;

namespace {

// All splits of one dimension that respect fan-outs, fixed trips and what each level may loop over.
class Splitter {
  public:
    Splitter(const Task& task, const std::vector<OperandSet>& keeps, const LoopRoles& roles,
             Dim dim, const Effort& effort)
        : task_(task), keeps_(keeps), roles_(roles), dim_(dim), effort_(effort),
          bound_(task.problem.bounds[index(dim)]), levels_(task.machine.levels.size()),
          inside_(inside_homes()), ramps_(ramps_matter(task)), edge_(array_edge(task.machine)),
          timed_(timed_levels()), primes_apart_(primes_apart()) {}

    std::vector<Split> run() {
        space(levels_ - 1, 1);
        return std::move(splits_);
    }

  private:
    // First level at which this dimension may loop in time: nothing of an operand travels above its
    // home, so all loops that move it end there.
    std::size_t inside_homes() const {
        std::size_t first = 0;
        for (const Operand o : kAllOperands) {
            if (present(task_, o) && relevant(o, dim_)) {
                first = std::max(first, home_of(keeps_, o));
            }
        }
        return first;
    }
    // Levels from the outermost on whose trips step 7 counts: down to the edge of the array, and
    // down to the store that takes in what leaves the outermost memory.
    std::size_t timed_levels() const {
        std::size_t levels = edge_ + 1;
        for (const Operand o : kAllOperands) {
            if (edge_ > 0 && present(task_, o) && o != task_.problem.produced) {
                levels = std::max(levels, keeping_from(keeps_, 1, o));
            }
        }
        return std::min(levels, levels_);
    }
    // Several networks feed the array, and a tile of this dimension may have to arrive before a
    // pass starts. A larger tile then takes words off its network's stream, while another network
    // decides how long the pass waits.
    bool primes_apart() const {
        const auto& channels = task_.machine.levels[edge_].channels;
        const auto feeding = std::count_if(channels.begin(), channels.end(), [](const Channel& c) {
            return !c.operands.empty() && std::isfinite(c.down_bytes_per_cycle);
        });
        return ramps_ && feeding > 1 &&
               std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
                   const std::size_t first = keeping_from(keeps_, edge_ + 1, o);
                   const Store* store =
                       first < levels_ ? store_of(task_.machine.levels[first], o) : nullptr;
                   return present(task_, o) && o != task_.problem.produced && relevant(o, dim_) &&
                          store != nullptr && store->buffers == 1;
               });
    }
    Count spatial_limit(std::size_t level) const {
        return most_in_space(task_, keeps_, level, dim_);
    }
    bool loops_here(std::size_t level) const {
        return level >= inside_ && roles_.of(level, dim_) != 0;
    }
    bool ruled(std::size_t level) const {
        const LevelConstraint& rule = rules_of(task_, level);
        return rule.temporal[index(dim_)] || rule.temporal_range[index(dim_)].limits();
    }

    template <class Next>
    void each_trip(Count tile, Count limit, std::optional<Count> fixed, Next next) {
        const Count most = std::min(ceil_div(bound_, tile), fixed.value_or(limit));
        for (Count trips = fixed ? most : 1; trips <= most && !over(); ++trips) {
            const bool divides = bound_ % (tile * trips) == 0;
            if ((!fixed || trips == *fixed) && (task_.factors == Factors::any || divides)) {
                next(trips);
            }
        }
    }

    // Looks at the clock now and then.
    bool over() {
        over_ = over_ || ((++looks_ & 4095U) == 0 && effort_.over());
        return over_;
    }

    // Does the tile of this dimension alone fit the stores of a level?
    bool fits(std::size_t level, Count extent) const {
        Extents tile = kOnes;
        tile[index(dim_)] = std::min(extent, bound_);
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_.machine.levels[level], o);
            if (store != nullptr && store->capacity_bytes && present(task_, o) &&
                keeps_[level].contains(o) && relevant(o, dim_)) {
                const Count bits = held_words(task_.problem, o, tile, task_.counting) *
                                   bits_at(task_.machine, level, o);
                if (ceil_div(bits, 8) * store->buffers > *store->capacity_bytes) {
                    return false;
                }
            }
        }
        return true;
    }

    // Do tiles of this dimension hold as many inputs in all, however many of its trips each has? So
    // they do where windows follow one another closely, or do not slide; with gaps between the taps
    // (or, for taps, between the positions) tiles of 3 and 1 may overlap more than two of 2.
    bool alike_tiles() const {
        const auto gaps = [&](Dim dim, Dim other, Count step) {
            return dim_ == dim && bound_ > 1 && task_.problem.bounds[index(other)] > 1 && step > 1;
        };
        const Problem& p = task_.problem;
        return !gaps(Dim::P, Dim::R, p.dilation.h) && !gaps(Dim::Q, Dim::S, p.dilation.w) &&
               !gaps(Dim::R, Dim::P, p.stride.h) && !gaps(Dim::S, Dim::Q, p.stride.w);
    }

    // May a smaller tile at this level change when tiles arrive, and make step 7 take longer? What
    // fits twice into a store that prefetches arrives early, and no longer shares the wait for
    // tiles that come late.
    bool sets_arrival(std::size_t level) const {
        for (std::size_t i = 1; ramps_ && i <= level; ++i) {
            for (const Store& store : task_.machine.levels[i].stores) {
                const bool moves =
                    std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
                        return present(task_, o) && keeps_[i].contains(o) &&
                               store.operands.contains(o) && relevant(o, dim_);
                    });
                if (moves && store.prefetch && store.buffers == 1 && store.capacity_bytes) {
                    return true;
                }
            }
        }
        return primes_apart_ && level > edge_;
    }

    // Has every trip in space inside this level work in the last of the tiles of so many elements?
    // A smaller tile may leave it more of them than it had.
    bool last_tile_fills(std::size_t level, Count tile) const {
        const Count last = bound_ - (ceil_div(bound_, tile) - 1) * tile;
        Count inside = 1;
        for (std::size_t i = levels_; i-- > level;) {
            inside *= split_.spatial[i];
            if (split_.spatial[i] > 1 && inside > last) {
                return false;
            }
            inside *= i > level ? split_.temporal[i] : 1;
        }
        return true;
    }

    // Would one trip less in time at some level leave as many trips outside and take no more steps?
    // Then nothing needs the larger tile: fewer words wait in it, no lane does more, and as many
    // tiles come, each no later.
    bool wasteful() {
        if (task_.counting == Counting::eyeroof && !alike_tiles()) {
            return false;
        }
        const Count steps = this->steps();
        const bool own = task_.counting == Counting::eyeroof;
        Count tile = 1;
        for (std::size_t i = levels_; i-- > 1;) {
            tile *= split_.spatial[i];
            Count& trips = split_.temporal[i];
            const bool fixed = ruled(i) || ruled(i - 1) || sets_arrival(i) ||
                               (own && !last_tile_fills(i, tile * trips));
            if (trips > 1 && !fixed &&
                ceil_div(bound_, tile * trips) == ceil_div(bound_, tile * (trips - 1))) {
                --trips;
                const Count less = this->steps();
                ++trips;
                // Step 7 spreads what the trips that it counts move over them, however uneven.
                const bool as_good = ramps_ && i < timed_ ? less == steps : less <= steps;
                if (as_good) {
                    return true;
                }
            }
            tile *= trips;
        }
        return false;
    }
    Count steps() const {
        std::array<nest::Digit, kMaxLevels> digits;
        std::size_t from = digits.size();
        Count stride = 1;
        for (std::size_t i = levels_; i-- > 0;) {
            stride *= split_.spatial[i];
            if (split_.temporal[i] > 1) {
                digits[--from] = {split_.temporal[i], stride};
            }
            stride *= split_.temporal[i];
        }
        return nest::visits(bound_, std::span<const nest::Digit>(digits).subspan(from));
    }

    // Can this dimension alone have so many trips in space on the axes of a level, of which `reach`
    // have work?
    bool packs(std::size_t level, Count trips, Count reach) {
        auto& known = packs_[level];
        const std::pair<Count, Count> key = {trips, std::min(trips, reach)};
        const auto at = known.find(key);
        if (at != known.end()) {
            return at->second;
        }
        Extents spread = kOnes;
        Extents working = kOnes;
        spread[index(dim_)] = trips;
        working[index(dim_)] = reach;
        return known[key] = pack_axes(task_, level, spread, working, nullptr);
    }

    void space(std::size_t level, Count tile) {
        const Count limit = spatial_limit(level);
        const Count reach = ceil_div(bound_, tile);
        const auto& fixed = rules_of(task_, level).spatial[index(dim_)];
        const TripRange& range = rules_of(task_, level).spatial_range[index(dim_)];
        const auto next = [&](Count trips) {
            if (trips <= limit && range.holds(trips) && packs(level, trips, reach)) {
                split_.spatial[level] = trips;
                time(level, tile * trips);
            }
        };
        each_trip(tile, limit, fixed, next);
        // Three tiles on two axes of two: four trips in space, one of them without work.
        for (Count trips = reach + 1; trips <= std::min(limit, 2 * reach - 1) && !fixed &&
                                      task_.factors == Factors::any && reach > 1;
             ++trips) {
            next(trips);
        }
        split_.spatial[level] = 1;
    }

    void time(std::size_t level, Count tile) {
        const auto& fixed = rules_of(task_, level).temporal[index(dim_)];
        const TripRange& range = rules_of(task_, level).temporal_range[index(dim_)];
        if (level == 0) {
            const Count rest = ceil_div(bound_, tile);
            const bool reaches = (rest == 1 || loops_here(0)) && range.holds(rest);
            if (reaches && (!fixed || *fixed == rest) && fits(0, bound_)) {
                split_.temporal[0] = rest;
                finish();
            }
            return;
        }
        const Count limit = loops_here(level) ? bound_ : 1;
        each_trip(tile, limit, fixed, [&](Count trips) {
            if ((trips == 1 || level >= inside_) && range.holds(trips) &&
                fits(level, tile * trips)) {
                split_.temporal[level] = trips;
                space(level - 1, tile * trips);
            }
        });
        split_.temporal[level] = 1;
    }

    // Is a loop of this level as good outside the trips in space right above?
    bool moves_out(std::size_t level) const {
        Count tile = 1;
        for (std::size_t i = level; i < levels_; ++i) {
            tile *= split_.temporal[i] * split_.spatial[i];
        }
        const Count spread = split_.spatial[level - 1];
        return spread == 1 || (!has_windows(task_.problem, dim_) && bound_ % (tile * spread) == 0);
    }

    void finish() {
        if (task_.constraints.whole.contains(dim_)) {
            Count spread = 1;
            for (const Count trips : split_.spatial) {
                spread *= trips;
            }
            if (spread != 1 && spread < bound_) {
                return;
            }
        }
        for (std::size_t i = 1; i < levels_; ++i) {
            const bool own_only = roles_.of(i, dim_) == kOwnSpace;
            if (split_.temporal[i] > 1 && own_only && moves_out(i)) {
                return; // the next level outwards has it
            }
        }
        if (task_.factors == Factors::perfect || !wasteful()) {
            splits_.push_back(split_);
        }
    }

    const Task& task_;
    const std::vector<OperandSet>& keeps_;
    const LoopRoles& roles_;
    Dim dim_;
    const Effort& effort_;
    std::uint64_t looks_ = 0;
    bool over_ = false;
    Count bound_;
    std::size_t levels_;
    std::size_t inside_;
    bool ramps_;
    std::size_t edge_;
    std::size_t timed_;
    bool primes_apart_;
    Split split_;
    std::vector<Split> splits_;
    std::array<std::map<std::pair<Count, Count>, bool>, kMaxLevels> packs_;
};

} // namespace

std::vector<Split> splits_of(const Task& task, const std::vector<OperandSet>& keeps,
                             const LoopRoles& roles, Dim dim, const Effort& effort) {
    return Splitter(task, keeps, roles, dim, effort).run();
}

} // namespace eyeroof::mapper
