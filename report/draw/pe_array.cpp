#include "report/draw/pe_array.hpp"

#include <algorithm>
#include <map>

namespace eyeroof::report {

using model::Dim;
using model::index;

namespace {

// The temporal loops of one dimension, outer to inner: trips, and the elements one trip stands for.
struct Trips {
    std::vector<std::pair<Count, Count>> loops; // trips, weight

    // How many combinations of trips begin below `bound`. Since all inner trips together stay below
    // the weight of the next outer one, at most one trip of each loop is cut.
    Count below(Count bound, std::size_t from = 0) const {
        if (bound <= 0) {
            return 0;
        }
        if (from == loops.size()) {
            return 1;
        }
        Count inner_most = 0;
        Count inner_count = 1;
        for (std::size_t i = from + 1; i < loops.size(); ++i) {
            inner_most += (loops[i].first - 1) * loops[i].second;
            inner_count *= loops[i].first;
        }
        const auto [trips, weight] = loops[from];
        const Count whole =
            bound > inner_most ? std::min(trips, (bound - 1 - inner_most) / weight + 1) : 0;
        const Count cut = whole < trips ? below(bound - whole * weight, from + 1) : 0;
        return whole * inner_count + cut;
    }
};

struct Unrolled { // one spatial loop
    Dim dim = Dim::N;
    Count bound = 1;
    Count weight = 1; // elements of its dimension that one trip stands for
};

// One axis of the array with the loops spread over it, outer to inner.
struct AxisUse {
    std::string name;
    Count size = 1;
    std::vector<Unrolled> loops;
};

struct Taken {
    std::array<Trips, model::kDims> trips;
    std::vector<AxisUse> columns, rows; // outer to inner
};

// Walks the loops from the innermost outwards, so that each one's weight is the tile below it.
Taken take_apart(const model::Accelerator& machine, const model::Mapping& mapping) {
    Taken taken;
    model::Extents tile = model::kOnes;
    std::vector<std::vector<AxisUse>> axes(machine.levels.size());
    for (std::size_t i = mapping.levels.size(); i-- > 0;) {
        for (const model::Axis& axis : machine.levels[i].fanout) {
            axes[i].push_back({axis.name, axis.size, {}});
        }
        const model::LevelMapping& level = mapping.levels[i];
        for (auto loop = level.spatial.rbegin(); loop != level.spatial.rend(); ++loop) {
            auto& loops = axes[i].at(loop->axis).loops;
            loops.insert(loops.begin(), {loop->dim, loop->bound, tile[index(loop->dim)]});
            tile[index(loop->dim)] *= loop->bound;
        }
        for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) {
            auto& loops = taken.trips[index(loop->dim)].loops;
            loops.insert(loops.begin(), {loop->bound, tile[index(loop->dim)]});
            tile[index(loop->dim)] *= loop->bound;
        }
    }
    for (std::vector<AxisUse>& level : axes) {
        bool to_columns = true;
        for (AxisUse& axis : level) {
            if (axis.size > 1) {
                // a lone or third axis runs along the columns too
                (to_columns || &axis - level.data() > 1 ? taken.columns : taken.rows)
                    .push_back(axis);
                to_columns = !to_columns;
            }
        }
    }
    return taken;
}

// Offsets in every dimension of one place along the columns (or rows); nothing beyond the loops.
struct Offsets {
    bool used = true;
    std::array<Count, model::kDims> at{};
};

std::vector<Offsets> offsets_along(const std::vector<AxisUse>& axes) {
    std::vector<Offsets> all = {Offsets{}};
    for (const AxisUse& axis : axes) {
        std::vector<Offsets> finer;
        for (const Offsets& outer : all) {
            for (Count place = 0; place < axis.size; ++place) {
                Offsets here = outer;
                Count rest = place;
                for (auto loop = axis.loops.rbegin(); loop != axis.loops.rend(); ++loop) {
                    here.at[index(loop->dim)] += rest % loop->bound * loop->weight;
                    rest /= loop->bound;
                }
                here.used = here.used && rest == 0;
                finer.push_back(here);
            }
        }
        all = std::move(finer);
    }
    return all;
}

std::string names_of(const std::vector<AxisUse>& axes) {
    std::string names;
    for (const AxisUse& axis : axes) {
        names += (names.empty() ? "" : ", ") + axis.name;
    }
    return names;
}

} // namespace

ArrayWork array_work(const model::Problem& problem, const model::Accelerator& machine,
                     const model::Mapping& mapping) {
    const Taken taken = take_apart(machine, mapping);
    const model::Extents bounds = model::loop_bounds(problem);
    ArrayWork work;
    work.column_axes = names_of(taken.columns);
    work.row_axes = names_of(taken.rows);
    model::Extents steps = model::kOnes;
    for (const Dim d : model::kAllDims) {
        steps[index(d)] = taken.trips[index(d)].below(bounds[index(d)]);
        work.steps *= steps[index(d)];
    }
    if (model::mac_units(machine) > kMostUnitsDrawn) {
        return work;
    }
    const auto columns = offsets_along(taken.columns);
    const auto rows = offsets_along(taken.rows);
    work.columns = static_cast<Count>(columns.size());
    work.rows = static_cast<Count>(rows.size());
    std::array<std::map<Count, double>, model::kDims> known; // share by offset
    work.active.reserve(columns.size() * rows.size());
    for (const Offsets& row : rows) {
        for (const Offsets& column : columns) {
            double share = row.used && column.used ? 1.0 : 0.0;
            for (std::size_t d = 0; d < model::kDims && share > 0.0; ++d) {
                const Count offset = row.at[d] + column.at[d];
                const auto [found, fresh] = known[d].try_emplace(offset, 0.0);
                if (fresh) {
                    found->second = static_cast<double>(taken.trips[d].below(bounds[d] - offset)) /
                                    static_cast<double>(steps[d]);
                }
                share *= found->second;
            }
            work.active.push_back(share);
        }
    }
    return work;
}

} // namespace eyeroof::report
