#include "mapper/search.hpp"
#include "mapper/space.hpp"

#include <algorithm>

// Does a mapping that was made elsewhere keep a task's rules? The searches never ask: they make no
// other mappings.

namespace eyeroof::mapper {

using namespace model;

namespace {

template <class Loops> Count trips_of(const Loops& loops, Dim dim) {
    Count trips = 1;
    for (const auto& loop : loops) {
        trips *= loop.dim == dim ? loop.bound : 1;
    }
    return trips;
}

bool keeps_rightly(const Task& task, const Mapping& mapping, Operand o) {
    static const LevelConstraint none;
    const bool there = o != Operand::weight || task.problem.has_weight;
    std::optional<std::size_t> home;
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        const auto& rules = task.constraints.levels;
        const LevelConstraint& rule = i < rules.size() ? rules[i] : none;
        const Store* store = store_of(task.machine.levels[i], o);
        const bool kept = mapping.levels[i].keeps.contains(o);
        home = kept && !home ? i : home;
        const bool must =
            there && store != nullptr && ((home && !store->may_bypass) || rule.keep.contains(o));
        if ((must && !kept) || (kept && (store == nullptr || rule.bypass.contains(o)))) {
            return false;
        }
    }
    const auto homes = homes_allowed(task, o);
    return there ? home && std::find(homes.begin(), homes.end(), *home) != homes.end() : !home;
}

bool spreads_rightly(const LevelMapping& level, const LevelConstraint& rule) {
    return !rule.axis_dims ||
           std::all_of(level.spatial.begin(), level.spatial.end(), [&](const SpatialLoop& loop) {
               return loop.bound == 1 || (loop.axis < rule.axis_dims->size() &&
                                          (*rule.axis_dims)[loop.axis].contains(loop.dim));
           });
}

// The dimensions of the rule that have loops must be the innermost ones, as listed.
bool ordered_rightly(const LevelMapping& level, const LevelConstraint& rule) {
    std::size_t next = 0;
    bool others = false;
    for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) {
        if (loop->bound == 1) {
            continue;
        }
        const auto at = std::find(rule.order.begin(), rule.order.end(), loop->dim);
        const auto place = static_cast<std::size_t>(at - rule.order.begin());
        if (at != rule.order.end() && (others || place < next)) {
            return false;
        }
        others = others || at == rule.order.end();
        next = at == rule.order.end() ? next : place;
    }
    return true;
}

bool unrolls_rightly(const Task& task, const Mapping& mapping) {
    return std::all_of(kAllDims.begin(), kAllDims.end(), [&](Dim d) {
        Count spread = 1;
        for (const LevelMapping& level : mapping.levels) {
            spread *= trips_of(level.spatial, d);
        }
        return !task.constraints.whole.contains(d) || spread == 1 ||
               spread >= task.problem.bounds[index(d)];
    });
}

} // namespace

bool satisfies_constraints(const Task& task, const Mapping& mapping, const MappingCost& cost,
                           const Latency& latency) {
    static const LevelConstraint none;
    for (std::size_t i = 0; i < mapping.levels.size(); ++i) {
        const auto& rules = task.constraints.levels;
        const LevelConstraint& rule = i < rules.size() ? rules[i] : none;
        const LevelMapping& level = mapping.levels[i];
        if (!spreads_rightly(level, rule) || !ordered_rightly(level, rule)) {
            return false;
        }
        for (const Dim d : kAllDims) {
            const auto& time = rule.temporal[index(d)];
            const auto& space = rule.spatial[index(d)];
            const Count loops = trips_of(level.temporal, d);
            const Count spread = trips_of(level.spatial, d);
            if ((time && loops != *time) || (space && spread != *space) ||
                !rule.temporal_range[index(d)].holds(loops) ||
                !rule.spatial_range[index(d)].holds(spread)) {
                return false;
            }
        }
    }
    const double used =
        cost.averaged_mac_units / static_cast<double>(mac_units(task.machine)) * (1.0 + 1e-12);
    const bool kept = std::all_of(kAllOperands.begin(), kAllOperands.end(),
                                  [&](Operand o) { return keeps_rightly(task, mapping, o); });
    return kept && unrolls_rightly(task, mapping) && used >= task.constraints.min_utilization &&
           task.constraints.allow(cost.energy_pj, latency.total_cycles());
}

} // namespace eyeroof::mapper
