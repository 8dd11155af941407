#include "mapper/loop_roles.hpp"

#include "mapper/reported.hpp"
#include "mapper/space.hpp"

#include <algorithm>

namespace eyeroof::mapper {

using namespace model;

namespace {

static_assert(kRoleLevels == kMaxLevels);

bool allowed_on(const LevelConstraint& rule, std::size_t axis, Dim d) {
    return !rule.axis_dims ||
           (axis < rule.axis_dims->size() && (*rule.axis_dims)[axis].contains(d));
}

// The dimension of the same windows: taps for positions, positions for taps.
std::optional<Dim> partner_of(Dim d) {
    constexpr std::array<std::pair<Dim, Dim>, 4> kPairs = {
        {{Dim::P, Dim::R}, {Dim::R, Dim::P}, {Dim::Q, Dim::S}, {Dim::S, Dim::Q}}};
    for (const auto& [one, other] : kPairs) {
        if (one == d) {
            return other;
        }
    }
    return std::nullopt;
}

class RoleFinder {
  public:
    RoleFinder(const Task& task, const std::vector<OperandSet>& keeps)
        : task_(task), keeps_(keeps), levels_(keeps.size()), ramps_(ramps_matter(task)),
          edge_(array_edge(task.machine)), many_lanes_(many_lanes()) {
        for (const Dim d : kAllDims) {
            if (task.problem.bounds[index(d)] > 1) {
                dims_.push_back(d);
            }
        }
    }

    LoopRoles run() {
        roles_.many_lanes = many_lanes_;
        find_handing_on();
        for (const Dim d : kAllDims) {
            roles_.at[0][index(d)] = kAnchor;
        }
        for (std::size_t i = 1; i < levels_; ++i) {
            for (const Dim d : dims_) {
                role(i, d) = anchors(i, d)                         ? kAnchor
                             : splits_space(d) && spread(i - 1, d) ? kOwnSpace
                                                                   : 0;
            }
            lean(i);
        }
        return roles_;
    }

  private:
    std::uint8_t& role(std::size_t level, Dim d) { return roles_.at[level][index(d)]; }
    bool spread(std::size_t level, Dim d) const {
        return most_in_space(task_, keeps_, level, d) > 1;
    }
    // May a loop of the dimension cost less inside its trips in space than outside? Where windows
    // overlap, other windows lie side by side; where sizes do not divide evenly, another number of
    // trips has work.
    bool splits_space(Dim d) const {
        return task_.factors == Factors::any || has_windows(task_.problem, d);
    }
    bool kept(std::size_t level, Operand o) const {
        return present(task_, o) && keeps_[level].contains(o);
    }

    // ---- anchors --------------------------------------------------------------------------------

    bool anchors(std::size_t level, Dim d) const {
        const bool moves = std::any_of(kAllOperands.begin(), kAllOperands.end(),
                                       [&](Operand o) { return kept(level, o) && relevant(o, d); });
        return moves || ruled(level, d) || ruled(level - 1, d) || ends_exchange_[level - 1] ||
               sets_time(level);
    }
    bool ruled(std::size_t level, Dim d) const { // there a loop may not be welcome
        const LevelConstraint& rule = rules_of(task_, level);
        return rule.temporal[index(d)] || rule.temporal_range[index(d)].limits() ||
               !rule.order.empty();
    }
    // Step 7 tells passes over the array from what the units do between them, and tiles from the
    // outermost memory that come late from those that come early.
    bool sets_time(std::size_t level) const {
        return ramps_ && (level == edge_ + 1 || (edge_ > 0 && filled_from_outside(level)));
    }
    // Does a level keep an operand that no level between it and the outermost keeps?
    bool filled_from_outside(std::size_t level) const {
        return std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
            bool between = false;
            for (std::size_t i = 1; i < level; ++i) {
                between = between || kept(i, o);
            }
            return kept(level, o) && !between;
        });
    }

    // A link of the input to a store, below a fan-out that may carry taps of windows whose
    // positions move (or the other way round): then its units may hand on what they hold.
    void find_handing_on() {
        if (task_.counting == Counting::eyeroof) {
            find_forwarding();
            return;
        }
        std::optional<std::size_t> parent;
        for (std::size_t i = 0; i < levels_; ++i) {
            if (!kept(i, Operand::input)) {
                continue;
            }
            bool inside = false; // may a tap be spread at this block of the link or further in?
            for (std::size_t b = i; parent && b-- > *parent;) {
                for (const Dim d : dims_) {
                    inside = inside || (has_windows(task_.problem, d) && spread(b, d));
                }
                roles_.hands_on[b] = inside;
            }
            for (std::size_t b = parent.value_or(i); b < i; ++b) {
                ends_exchange_[b] = inside;
            }
            parent = i;
        }
    }

    void find_forwarding() {
        bool inside = false; // does some network on the way to a store further in forward?
        bool stored = false;
        for (std::size_t b = levels_; b-- > 0;) {
            const Channel* c = channel_of(task_.machine.levels[b], Operand::input);
            inside = inside || (stored && c != nullptr && c->forwards);
            roles_.hands_on[b] = inside;
            stored = stored || kept(b, Operand::input);
        }
    }

    // ---- what leans -----------------------------------------------------------------------------

    bool kept_below(std::size_t level, Operand o) const {
        for (std::size_t i = level + 1; i < levels_; ++i) {
            if (kept(i, o)) {
                return true;
            }
        }
        return false;
    }
    // Does some dimension with a role there move the operand, or not move it?
    bool some_role(std::size_t level, Operand o, bool moves) {
        return std::any_of(dims_.begin(), dims_.end(),
                           [&](Dim d) { return role(level, d) != 0 && relevant(o, d) == moves; });
    }
    bool leans(std::size_t level, Dim d) {
        if (ramps_ && level <= edge_) {
            return std::any_of(dims_.begin(), dims_.end(),
                               [&](Dim other) { return role(level, other) != 0; });
        }
        return std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
            return !relevant(o, d) && kept_below(level, o) && some_role(level, o, true);
        });
    }
    bool leans_on_sums(std::size_t level, Dim d) {
        const Operand sums = task_.problem.produced;
        return many_lanes_ && relevant(sums, d) && kept_below(level, sums) &&
               some_role(level, sums, false);
    }
    void lean(std::size_t level) {
        for (bool grew = true; grew;) {
            grew = false;
            for (const Dim d : dims_) {
                std::uint8_t& now = role(level, d);
                if ((now & (kAnchor | kLeans)) != 0) {
                    continue;
                }
                const std::uint8_t more = leans(level, d)           ? kLeans
                                          : leans_on_sums(level, d) ? kLeansOnSums
                                                                    : 0;
                grew = grew || (now | more) != now;
                now = static_cast<std::uint8_t>(more == kLeans ? (now & kOwnSpace) | kLeans
                                                               : now | more);
            }
        }
    }

    // Sums that return cost the least of  cost - saving * (lanes - 1)  a word and link; is that
    // below zero for as many lanes as the fan-outs allow?
    bool many_lanes() const {
        if (task_.counting == Counting::timeloop) {
            return false; // every lane takes returning sums there
        }
        const Operand sums = task_.problem.produced;
        std::optional<std::size_t> parent;
        double lanes = 1.0;
        double cost = kNone;
        double saving = 0.0;
        for (std::size_t i = 0; i < levels_; ++i) {
            if (kept(i, sums)) {
                if (parent) {
                    const SumsPrice price = sums_price(task_, sums, *parent, i);
                    cost = std::min(cost, price.cost);
                    saving = std::max(saving, price.saving);
                    lanes *= lanes_between(*parent, i);
                }
                parent = i;
            }
        }
        return parent && cost < saving * (lanes - 1.0);
    }
    double lanes_between(std::size_t from, std::size_t to) const {
        double lanes = 1.0;
        for (std::size_t i = from; i < to; ++i) {
            double units = 1.0;
            for (const Axis& axis : task_.machine.levels[i].fanout) {
                units *= static_cast<double>(axis.size);
            }
            double adds = 1.0;
            for (const Dim d : kAllDims) {
                const Count most =
                    std::min(task_.problem.bounds[index(d)], most_in_space(task_, keeps_, i, d));
                adds *= relevant(task_.problem.produced, d) ? 1.0 : static_cast<double>(most);
            }
            lanes *= std::min(units, adds);
        }
        return lanes;
    }

    const Task& task_;
    const std::vector<OperandSet>& keeps_;
    std::size_t levels_;
    bool ramps_;
    std::size_t edge_;
    bool many_lanes_;
    std::vector<Dim> dims_; // with more than one trip
    // Timeloop's counting: blocks of a link over which units may hand windows on. A loop in any of
    // them ends that, inside the array too.
    std::array<bool, kRoleLevels> ends_exchange_{};
    LoopRoles roles_;
};

} // namespace

bool has_windows(const Problem& problem, Dim d) {
    const auto other = partner_of(d);
    return other && problem.bounds[index(d)] > 1 && problem.bounds[index(*other)] > 1;
}

// No network above the home of the sums adds any.
Count most_in_space(const Task& task, const std::vector<OperandSet>& keeps, std::size_t level,
                    Dim d) {
    const Operand sums = task.problem.produced;
    if (!relevant(sums, d) && level < home_of(keeps, sums)) {
        return 1;
    }
    const auto& axes = task.machine.levels[level].fanout;
    Count most = 1;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        most *= allowed_on(rules_of(task, level), a, d) ? axes[a].size : 1;
    }
    return most;
}

LoopRoles loop_roles(const Task& task, const std::vector<OperandSet>& keeps) {
    return RoleFinder(task, keeps).run();
}

} // namespace eyeroof::mapper
