// Every mapping of the space that docs/mapper.md defines, one after the other.
// Used by test_whole_space.cpp. Shares no code with the searches: a mapping is written down from
// numbers, and the model alone counts what it costs.
//
// The space: what each level keeps (a home is the outermost level with a store for the operand;
// below it a store that may be passed by is used or not); for every dimension and level the trips
// of one loop in time, and of one loop in space on each axis; every order of the loops in time of a
// level; every order of its loops in space. Levels that keep nothing have loops like any other.
// Under Timeloop's counting no loop has more trips than its dimension needs.
#pragma once

#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/cost/leakage.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace eyeroof::test {

class EveryMapping {
  public:
    struct Question {
        model::Problem problem;
        model::Accelerator machine;
        model::Counting counting = model::Counting::eyeroof;
        bool divide_evenly = true;
        bool ramps = false; // is the time that of step 7?
    };
    using Value = std::function<double(double energy_pj, double cycles)>;

    EveryMapping(const Question& question, Value value)
        : q_(question), value_(std::move(value)), levels_(q_.machine.levels.size()) {
        mapping_.levels.resize(levels_);
        for (std::size_t i = 0; i < levels_; ++i) {
            slots_.push_back({i, -1});
            for (std::size_t a = 0; a < q_.machine.levels[i].fanout.size(); ++a) {
                slots_.push_back({i, static_cast<int>(a)});
            }
        }
        for (const model::Dim d : model::kAllDims) {
            if (q_.problem.bounds[model::index(d)] > 1) {
                dims_.push_back(d);
                ways_.push_back(ways_of(d));
            }
        }
        chosen_.resize(dims_.size());
        list_keeps();
    }

    // Mappings before capacities are looked at; counted no further than `most`.
    long size(long most) {
        counting_only_ = true;
        most_ = most;
        seen_ = 0;
        split(0);
        counting_only_ = false;
        return seen_ * static_cast<long>(keeps_.size());
    }

    // The least value; none where no mapping is valid.
    std::optional<double> least() {
        for (const auto& keeps : keeps_) {
            for (std::size_t i = 0; i < levels_; ++i) {
                mapping_.levels[i].keeps = keeps[i];
            }
            split(0);
        }
        return best_;
    }
    const model::Mapping& best() const { return best_mapping_; }

  private:
    struct Slot { // of a level; axis -1: in time
        std::size_t level;
        int axis;
    };
    using Trips = std::vector<Count>; // by slot

    // ---- what is kept ---------------------------------------------------------------------------

    void list_keeps() {
        keeps_ = {std::vector<model::OperandSet>(levels_)};
        for (const model::Operand o : model::kAllOperands) {
            if (o == model::Operand::weight && !q_.problem.has_weight) {
                continue;
            }
            bool below_home = false;
            for (std::size_t i = 0; i < levels_; ++i) {
                const model::Store* store = model::store_of(q_.machine.levels[i], o);
                if (store == nullptr) {
                    continue;
                }
                const bool may_pass = below_home && store->may_bypass;
                std::vector<std::vector<model::OperandSet>> next;
                for (auto keeps : keeps_) {
                    if (may_pass) {
                        next.push_back(keeps);
                    }
                    keeps[i].insert(o);
                    next.push_back(keeps);
                }
                keeps_ = std::move(next);
                below_home = true;
            }
        }
    }

    // ---- trips ----------------------------------------------------------------------------------

    // All ways to spread the trips of a dimension over the slots, innermost slot last.
    std::vector<Trips> ways_of(model::Dim d) const {
        std::vector<Trips> ways;
        Trips trips(slots_.size(), 1);
        spread(q_.problem.bounds[model::index(d)], slots_.size(), 1, trips, ways);
        return ways;
    }
    void spread(Count bound, std::size_t slot, Count tile, Trips& trips,
                std::vector<Trips>& ways) const {
        if (slot == 0) {
            if (tile >= bound &&
                (q_.counting == model::Counting::eyeroof || no_more(bound, trips))) {
                ways.push_back(trips);
            }
            return;
        }
        const Slot at = slots_[slot - 1];
        Count most = (bound + tile - 1) / tile;
        if (at.axis >= 0) {
            const auto& axes = q_.machine.levels[at.level].fanout;
            most = std::min(most, axes[static_cast<std::size_t>(at.axis)].size);
        }
        for (Count n = 1; n <= most; ++n) {
            if (!q_.divide_evenly || bound % (tile * n) == 0) {
                trips[slot - 1] = n;
                spread(bound, slot - 1, tile * n, trips, ways);
            }
        }
        trips[slot - 1] = 1;
    }

    // Would one trip less of some loop leave something undone, or more to the loops outside it?
    bool no_more(Count bound, const Trips& trips) const {
        Count tile = 1;
        for (std::size_t s = slots_.size(); s > 0;) {
            const std::size_t level = slots_[s - 1].level;
            const Count left = (bound + tile - 1) / tile;
            Count all = 1; // of the level, in space
            for (std::size_t a = s; a > 0 && slots_[a - 1].level == level; --a) {
                all *= slots_[a - 1].axis < 0 ? 1 : trips[a - 1];
            }
            for (; slots_[s - 1].axis >= 0; --s) {
                const Count n = trips[s - 1];
                if (n > 1 && (n - 1) * (all / n) >= left) {
                    return false;
                }
            }
            tile *= all;
            const Count n = trips[s - 1];
            const auto outside = [&](Count t) { return (bound + tile * t - 1) / (tile * t); };
            if (n > 1 && outside(n) == outside(n - 1)) {
                return false;
            }
            tile *= n;
            --s;
        }
        return true;
    }

    bool axes_hold(std::size_t n) const {
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            if (slots_[s].axis < 0) {
                continue;
            }
            Count used = 1;
            for (std::size_t d = 0; d <= n; ++d) {
                used *= (*chosen_[d])[s];
            }
            const auto& axes = q_.machine.levels[slots_[s].level].fanout;
            if (used > axes[static_cast<std::size_t>(slots_[s].axis)].size) {
                return false;
            }
        }
        return true;
    }

    void split(std::size_t n) {
        if (n == dims_.size()) {
            write_down();
            return;
        }
        for (const Trips& way : ways_[n]) {
            if (counting_only_ && seen_ > most_) {
                return;
            }
            chosen_[n] = &way;
            if (axes_hold(n)) {
                split(n + 1);
            }
        }
    }

    // ---- orders ---------------------------------------------------------------------------------

    void write_down() {
        for (model::LevelMapping& level : mapping_.levels) {
            level.temporal.clear();
            level.spatial.clear();
        }
        for (std::size_t s = 0; s < slots_.size(); ++s) {
            model::LevelMapping& level = mapping_.levels[slots_[s].level];
            for (std::size_t d = 0; d < dims_.size(); ++d) {
                const Count trips = (*chosen_[d])[s];
                if (trips > 1 && slots_[s].axis < 0) {
                    level.temporal.push_back({dims_[d], trips});
                } else if (trips > 1) {
                    level.spatial.push_back(
                        {dims_[d], trips, static_cast<std::uint8_t>(slots_[s].axis)});
                }
            }
        }
        if (counting_only_) {
            long orders = 1;
            for (const model::LevelMapping& level : mapping_.levels) {
                for (std::size_t n = 2; n <= level.temporal.size(); ++n) {
                    orders *= static_cast<long>(n);
                }
                for (std::size_t n = 2; n <= level.spatial.size(); ++n) {
                    orders *= static_cast<long>(n);
                }
            }
            seen_ += orders;
        } else if (tiles_fit()) {
            order(0);
        }
    }

    // No order of loops changes a tile.
    bool tiles_fit() const {
        return !model::validate(mapping_, q_.problem, q_.machine, q_.counting).has_errors();
    }

    void order(std::size_t level) {
        if (level == levels_) {
            judge();
            return;
        }
        auto& loops = mapping_.levels[level].temporal;
        const auto before = [](const model::TemporalLoop& a, const model::TemporalLoop& b) {
            return a.dim < b.dim;
        };
        std::sort(loops.begin(), loops.end(), before);
        do {
            place(level);
        } while (std::next_permutation(loops.begin(), loops.end(), before));
    }
    void place(std::size_t level) {
        auto& loops = mapping_.levels[level].spatial;
        const auto before = [](const model::SpatialLoop& a, const model::SpatialLoop& b) {
            return a.dim != b.dim ? a.dim < b.dim : a.axis < b.axis;
        };
        std::sort(loops.begin(), loops.end(), before);
        do {
            order(level + 1);
        } while (std::next_permutation(loops.begin(), loops.end(), before));
    }

    void judge() {
        auto cost = model::cost_of(q_.problem, q_.machine, mapping_, q_.counting);
        if (!cost) {
            return;
        }
        const model::Latency time = q_.ramps
                                        ? model::latency_of(q_.problem, q_.machine, mapping_, *cost)
                                        : model::overlapped_latency(*cost);
        model::add_leakage(q_.machine, mapping_, time.total_cycles(), *cost);
        const double value = value_(cost->energy_pj, time.total_cycles());
        if (!best_ || value < *best_) {
            best_ = value;
            best_mapping_ = mapping_;
        }
    }

    const Question& q_;
    Value value_;
    std::size_t levels_;
    std::vector<Slot> slots_; // outermost first
    std::vector<model::Dim> dims_;
    std::vector<std::vector<Trips>> ways_; // of each dimension
    std::vector<const Trips*> chosen_;
    std::vector<std::vector<model::OperandSet>> keeps_;
    model::Mapping mapping_;
    bool counting_only_ = false;
    long most_ = 0;
    long seen_ = 0;
    std::optional<double> best_;
    model::Mapping best_mapping_;
};

} // namespace eyeroof::test
