#include "mapper/search.hpp"
#include "mapper/space.hpp"
#include "model/accelerator/data_width.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

// Why no mapping can exist, rule by rule: each check needs only the rules that it names.

namespace eyeroof::mapper {

using namespace model;

namespace {

class Reasons {
  public:
    explicit Reasons(const Task& task) : task_(task), rules_(task.constraints.levels) {
        rules_.resize(task.machine.levels.size());
    }

    Diagnostics run() {
        for (const Dim d : kAllDims) {
            check_dimension(d);
        }
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            check_fanout(i);
            check_keeps(i);
        }
        check_capacity();
        check_utilization();
        check_limits();
        return std::move(found_);
    }

  private:
    const std::string& name(std::size_t level) const { return task_.machine.levels[level].name; }

    static std::string key(std::size_t level, std::string_view sort) {
        return fmt::format(" levels[{}].{}", level, sort);
    }
    static std::string key(std::size_t level, std::string_view sort, Dim dim) {
        return fmt::format(" levels[{}].{}.{}", level, sort, letter(dim));
    }
    static std::string key(std::size_t level, std::string_view sort, Operand operand) {
        return fmt::format(" levels[{}].{}.{}", level, sort, operand_name(operand));
    }
    // What makes the tiles of a level as large as they are.
    std::string tile_keys(std::size_t level) const {
        std::string keys;
        for (std::size_t i = level; i < rules_.size(); ++i) {
            for (const Dim d : kAllDims) {
                const LevelConstraint& rule = rules_[i];
                const auto asked = [&](const auto& fixed, const auto& ranges) {
                    return fixed[index(d)].value_or(ranges[index(d)].least) > 1;
                };
                keys += asked(rule.temporal, rule.temporal_range) ? key(i, "temporal", d) : "";
                keys += asked(rule.spatial, rule.spatial_range) ? key(i, "spatial", d) : "";
            }
        }
        for (const Operand o : kAllOperands) {
            keys += rules_[level].keep.contains(o) ? key(level, "keep", o) : "";
        }
        return keys;
    }
    // What holds dimensions off the axes.
    std::string spread_keys() const {
        std::string keys;
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            keys += rules_[i].axis_dims ? key(i, "axes") : "";
            for (const Dim d : kAllDims) {
                keys += rules_[i].spatial[index(d)] ? key(i, "spatial", d) : "";
            }
        }
        return keys;
    }

    Count fanout_for(std::size_t level, Dim dim) const {
        Count limit = 1;
        const auto& axes = task_.machine.levels[level].fanout;
        for (std::size_t a = 0; a < axes.size(); ++a) {
            const auto& dims = rules_[level].axis_dims;
            limit *= !dims || (a < dims->size() && (*dims)[a].contains(dim)) ? axes[a].size : 1;
        }
        return limit;
    }

    // The trips of a dimension that rules ask for at least and allow at most, and the rules.
    struct AchievableBounds {
        Count least = 1;
        Count most = 1;         // in slots that rules limit, and in space
        bool free_time = false; // some level may loop as often as it likes
        std::string names;
        std::string keys; // of the rules at fault, for messages with their places

        void add(Count at_least, Count at_most, const std::string& name, const std::string& key) {
            least = checked_mul(least, at_least).value_or(kMaxDimension);
            most = checked_mul(most, std::max<Count>(1, at_most)).value_or(kMaxDimension);
            names += name.empty() || names.empty() ? name : ", " + name;
            keys += key;
        }
    };
    static std::string trips_text(const std::optional<Count>& fixed, const TripRange& range) {
        return fixed                            ? fmt::format("{}", *fixed)
               : range.most == TripRange{}.most ? fmt::format("at least {}", range.least)
               : range.least == 1               ? fmt::format("at most {}", range.most)
                                                : fmt::format("{} to {}", range.least, range.most);
    }
    AchievableBounds reach_of(Dim dim) const {
        AchievableBounds reach;
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            const auto& time = rules_[i].temporal[index(dim)];
            const auto& space = rules_[i].spatial[index(dim)];
            const TripRange& time_range = rules_[i].temporal_range[index(dim)];
            const TripRange& space_range = rules_[i].spatial_range[index(dim)];
            if (time || time_range.limits()) {
                reach.add(time.value_or(time_range.least), time.value_or(time_range.most),
                          fmt::format("{} {} in time", name(i), trips_text(time, time_range)),
                          key(i, "temporal", dim));
            } else if (i == 0 || !task_.machine.levels[i].stores.empty()) {
                reach.free_time = true;
            }
            const Count fanout = fanout_for(i, dim);
            if (space || space_range.limits()) {
                reach.add(space.value_or(space_range.least),
                          space.value_or(std::min(fanout, space_range.most)),
                          fmt::format("{} {} in space", name(i), trips_text(space, space_range)),
                          key(i, "spatial", dim));
            } else {
                reach.add(1, fanout, "", "");
            }
        }
        return reach;
    }

    // Can the slots left free reach what the rules leave?
    void check_dimension(Dim dim) {
        const Count bound = task_.problem.bounds[index(dim)];
        const AchievableBounds reach = reach_of(dim);
        Count fixed = 1;
        for (const LevelConstraint& rule : rules_) {
            fixed *= rule.temporal[index(dim)].value_or(1) * rule.spatial[index(dim)].value_or(1);
        }
        if (reach.least > bound) {
            found_.error("infeasible",
                         fmt::format("the trips fixed for {} ({}) exceed its {}", letter(dim),
                                     reach.names, bound),
                         "fix fewer trips", {}, reach.keys);
        } else if (task_.factors == Factors::perfect && bound % fixed != 0) {
            found_.error("infeasible",
                         fmt::format("the trips fixed for {} ({}) do not divide its {}",
                                     letter(dim), reach.names, bound),
                         "allow any factors, or fix trips that divide", {}, reach.keys);
        } else if (!reach.free_time && reach.most < bound) {
            found_.error("infeasible",
                         fmt::format("{} is constrained away: {} reach {} of {}, and no level may "
                                     "loop over the rest",
                                     letter(dim), reach.names, reach.most, bound),
                         fmt::format("leave {} free at one level", letter(dim)), {}, reach.keys);
        }
    }

    void check_fanout(std::size_t level) {
        Count wanted = 1;
        std::string keys;
        for (const Dim d : kAllDims) {
            const Count fixed = rules_[level].spatial[index(d)].value_or(
                rules_[level].spatial_range[index(d)].least);
            wanted = checked_mul(wanted, fixed).value_or(kMaxDimension);
            keys += fixed > 1 ? key(level, "spatial", d) : "";
            if (fixed > fanout_for(level, d)) {
                found_.error(
                    "infeasible",
                    fmt::format("{} asks for {}{} in space, but its axes for {} have {}",
                                rules_[level].where.empty() ? name(level) : rules_[level].where,
                                letter(d), fixed, letter(d), fanout_for(level, d)),
                    "put it on another axis or lower it", {},
                    key(level, "spatial", d) + key(level, "axes"));
            }
        }
        Count all = 1;
        for (const Axis& axis : task_.machine.levels[level].fanout) {
            all *= axis.size;
        }
        if (wanted > all) {
            found_.error("infeasible",
                         fmt::format("{} asks for {} instances in space and has {}", name(level),
                                     wanted, all),
                         "spread fewer", {}, keys);
        }
    }

    void check_keeps(std::size_t level) {
        for (const Operand o : kAllOperands) {
            const Store* store = store_of(task_.machine.levels[level], o);
            const LevelConstraint& rule = rules_[level];
            if (rule.keep.contains(o) && store == nullptr) {
                found_.error("infeasible",
                             fmt::format("{} must keep the {} but has no store for it", name(level),
                                         operand_name(o)),
                             "let it pass by", {}, key(level, "keep", o));
            }
            if (rule.bypass.contains(o) && (rule.keep.contains(o) || level == 0)) {
                found_.error("infeasible",
                             fmt::format("the {} must both rest in {} and pass by it",
                                         operand_name(o), name(level)),
                             "keep one of the two", {},
                             key(level, "bypass", o) + key(level, "keep", o));
            }
        }
    }

    // The least tile of a level: what is fixed at it and inside it.
    void check_capacity() {
        Extents tile = kOnes;
        for (std::size_t i = rules_.size(); i-- > 0;) {
            for (std::size_t d = 0; d < kDims; ++d) {
                const Count grown =
                    tile[d] * rules_[i].temporal[d].value_or(rules_[i].temporal_range[d].least) *
                    rules_[i].spatial[d].value_or(rules_[i].spatial_range[d].least);
                tile[d] = i == 0 ? task_.problem.bounds[d] // all of it
                                 : std::min(grown, task_.problem.bounds[d]);
            }
            for (const Store& store : task_.machine.levels[i].stores) {
                check_store(i, store, tile);
            }
        }
    }

    void check_store(std::size_t level, const Store& store, const Extents& tile) {
        OperandSet must;
        for (const Operand o : kAllOperands) {
            if (level == 0 || !store.may_bypass || rules_[level].keep.contains(o)) {
                must.insert(o);
            }
        }
        const auto need =
            held_bytes(task_.problem, task_.machine, level, store, must, tile, task_.counting);
        if (store.capacity_bytes && need && *need > *store.capacity_bytes) {
            found_.error(
                "infeasible",
                fmt::format("the smallest tiles that must rest in {} need {} of its {} bytes",
                            name(level), *need, *store.capacity_bytes),
                level == 0 ? "a smaller batch, types of fewer bits, or a larger memory"
                           : "fix fewer trips inside it, or let an operand pass by",
                {}, tile_keys(level));
        }
    }

    // Best use of each axis by the dimensions that may lie on it.
    void check_utilization() {
        double most = 1.0;
        for (std::size_t i = 0; i < rules_.size(); ++i) {
            const auto& axes = task_.machine.levels[i].fanout;
            for (std::size_t a = 0; a < axes.size(); ++a) {
                double reach = 1.0;
                for (const Dim d : kAllDims) {
                    const auto& dims = rules_[i].axis_dims;
                    const bool allowed = !dims || (a < dims->size() && (*dims)[a].contains(d));
                    const Count trips = rules_[i].spatial[index(d)].value_or(std::min(
                        task_.problem.bounds[index(d)], rules_[i].spatial_range[index(d)].most));
                    reach *= allowed ? static_cast<double>(trips) : 1.0;
                }
                most *= std::min(1.0, reach / static_cast<double>(axes[a].size));
            }
        }
        if (task_.constraints.min_utilization > most * (1.0 + 1e-12)) {
            found_.error(
                "infeasible",
                fmt::format("a utilization of {:.4g} cannot be reached: the dimensions that "
                            "may lie on the axes fill at most {:.4g} of the fan-out",
                            task_.constraints.min_utilization, most),
                "lower the minimum utilization or allow more dimensions on the axes", {},
                "min_utilization" + spread_keys());
        }
    }

    void check_limits() {
        const auto macs = static_cast<double>(macs_of(task_.problem));
        const double steps = std::ceil(macs / static_cast<double>(mac_units(task_.machine)));
        const auto& most = task_.constraints;
        if (most.max_cycles && *most.max_cycles < steps) {
            found_.error("infeasible",
                         fmt::format("at most {:.6g} cycles are allowed, but all units together "
                                     "need {:.6g} for the MACs alone",
                                     *most.max_cycles, steps),
                         "allow more cycles");
        }
        if (most.max_energy_pj && *most.max_energy_pj < macs * task_.machine.mac_pj) {
            found_.error(
                "infeasible",
                fmt::format("at most {:.6g} pJ are allowed, but the MACs alone take {:.6g}",
                            *most.max_energy_pj, macs * task_.machine.mac_pj),
                "allow more energy");
        }
    }

    const Task& task_;
    std::vector<LevelConstraint> rules_;
    Diagnostics found_;
};

} // namespace

Diagnostics explain_infeasible(const Task& task) {
    return Reasons(task).run();
}

} // namespace eyeroof::mapper
