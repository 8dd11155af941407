#include "model/accelerator/mapping.hpp"

#include "model/accelerator/data_width.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::model {

namespace {

// min(limit, a * b) without overflow.
Count clipped_product(Count a, Count b, Count limit) {
    const auto product = checked_mul(a, b);
    return product ? std::min(*product, limit) : limit;
}

class MappingChecker {
  public:
    MappingChecker(const Mapping& mapping, const Problem& problem, const Accelerator& machine,
                   Counting counting)
        : mapping_(mapping), problem_(problem), machine_(machine), counting_(counting) {}

    Diagnostics run() {
        if (mapping_.levels.size() != machine_.levels.size()) {
            fail("level-count",
                 fmt::format("the mapping has {} levels, the machine {}", mapping_.levels.size(),
                             machine_.levels.size()),
                 "levels");
            return std::move(found_);
        }
        for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
            check_axes(i);
            check_keeps(i);
        }
        for (const Dim dim : kAllDims) {
            check_cover(dim);
        }
        check_homes();
        if (!found_.has_errors()) {
            for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
                check_capacity(i);
            }
        }
        return std::move(found_);
    }

  private:
    void fail(std::string code, std::string message, std::string field, std::string hint = {}) {
        found_.error(std::move(code), std::move(message), std::move(hint), {}, std::move(field));
    }
    const std::string& name(std::size_t level) const { return machine_.levels[level].name; }

    void check_axes(std::size_t level) {
        const auto& axes = machine_.levels[level].fanout;
        std::vector<Count> used(axes.size(), 1);
        for (const SpatialLoop& loop : mapping_.levels[level].spatial) {
            if (loop.axis >= axes.size()) {
                fail("unknown-axis",
                     fmt::format("level {} has no axis number {}", name(level), loop.axis),
                     fmt::format("levels[{}].spatial", level));
            } else if (loop.bound >= 1) {
                used[loop.axis] =
                    clipped_product(used[loop.axis], loop.bound,
                                    std::max(axes[loop.axis].size + 1, used[loop.axis]));
            }
        }
        for (std::size_t a = 0; a < axes.size(); ++a) {
            if (used[a] > axes[a].size) {
                fail("axis-overfull",
                     fmt::format("the loops over axis {} of {} need more than its {} instances",
                                 axes[a].name, name(level), axes[a].size),
                     fmt::format("levels[{}].spatial", level));
            }
        }
    }

    void check_keeps(std::size_t level) {
        for (const Operand o : kAllOperands) {
            if (o == Operand::weight && !problem_.has_weight) {
                continue;
            }
            const bool keeps = mapping_.levels[level].keeps.contains(o);
            if (keeps && store_of(machine_.levels[level], o) == nullptr) {
                fail("no-store",
                     fmt::format("{} has no store for the {}", name(level), operand_name(o)),
                     fmt::format("levels[{}].keeps", level));
            }
        }
    }

    void check_homes() {
        for (const Operand o : kAllOperands) {
            if (o == Operand::weight && !problem_.has_weight) {
                continue;
            }
            check_passing(o);
            const auto home =
                std::find_if(mapping_.levels.begin(), mapping_.levels.end(),
                             [o](const LevelMapping& l) { return l.keeps.contains(o); });
            if (home == mapping_.levels.end()) {
                fail("not-kept", fmt::format("no level keeps the {}", operand_name(o)), "levels");
                continue;
            }
            check_home(o, static_cast<std::size_t>(home - mapping_.levels.begin()));
        }
    }

    // Above its home an operand cannot change, and sums cannot be added.
    void check_home(Operand o, std::size_t home) {
        const auto outside = [&](Dim dim) {
            return relevant(o, dim) || problem_.form == ConvForm::scatter;
        };
        for (std::size_t i = 0; i < home; ++i) {
            for (const TemporalLoop& loop : mapping_.levels[i].temporal) {
                if (loop.bound > 1 && outside(loop.dim)) {
                    fail("moves-above-home",
                         fmt::format("the loop {}{} in {} changes the {}, which lives in {} below",
                                     letter(loop.dim), loop.bound, name(i), operand_name(o),
                                     name(home)),
                         fmt::format("levels[{}].temporal", i));
                }
            }
            for (const SpatialLoop& loop : mapping_.levels[i].spatial) {
                if (loop.bound > 1 && o == problem_.produced && !relevant(o, loop.dim)) {
                    fail(
                        "unreduced",
                        fmt::format("the loop {}{} in {} spreads sums of the {} that no level adds",
                                    letter(loop.dim), loop.bound, name(i), operand_name(o)),
                        fmt::format("levels[{}].spatial", i));
                }
            }
        }
    }

    // Below its home an operand must rest in every store that it cannot pass by.
    void check_passing(Operand o) {
        bool below_home = false;
        for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
            const Store* store = store_of(machine_.levels[i], o);
            const bool keeps = mapping_.levels[i].keeps.contains(o);
            if (below_home && !keeps && store != nullptr && !store->may_bypass) {
                fail("cannot-bypass",
                     fmt::format("the {} cannot pass by the store of {}", operand_name(o), name(i)),
                     fmt::format("levels[{}].keeps", i));
            }
            below_home = below_home || keeps;
        }
    }

    // Walks the loops of a dimension from the innermost outwards: with a tile of t below, a loop
    // may have at most ceil(bound / t) trips.
    void check_cover(Dim dim) {
        const Count bound = loop_bounds(problem_)[index(dim)];
        Count tile = 1;
        for (std::size_t i = mapping_.levels.size(); i-- > 0;) {
            const LevelMapping& level = mapping_.levels[i];
            for (auto loop = level.spatial.rbegin(); loop != level.spatial.rend(); ++loop) {
                tile = loop->dim == dim ? step(i, dim, tile, loop->bound, bound) : tile;
            }
            for (auto loop = level.temporal.rbegin(); loop != level.temporal.rend(); ++loop) {
                tile = loop->dim == dim ? step(i, dim, tile, loop->bound, bound) : tile;
            }
        }
        if (tile < bound) {
            fail("not-covered",
                 fmt::format("the loops over {} reach {} of {}", letter(dim), tile, bound),
                 "levels");
        }
    }

    Count step(std::size_t level, Dim dim, Count tile, Count trips, Count bound) {
        const std::string field = fmt::format("levels[{}]", level);
        if (trips < 1) {
            fail("bad-loop",
                 fmt::format("a loop over {} in {} has {} trips", letter(dim), name(level), trips),
                 field);
            return tile;
        }
        const Count most = ceil_div(bound, tile);
        if (trips > most) {
            fail("empty-trip",
                 fmt::format("the loop {}{} in {} has empty trips: tiles of {} cover {} in {}",
                             letter(dim), trips, name(level), tile, bound, most),
                 field);
        }
        return tile * std::min(trips, most);
    }

    void check_capacity(std::size_t level) {
        for (const Store& store : machine_.levels[level].stores) {
            if (!store.capacity_bytes) {
                continue;
            }
            std::optional<Count> need = 0;
            each_part(machine_, level, store, [&](std::size_t at, const Store& part) {
                const auto more =
                    held_bytes(problem_, machine_, at, part, mapping_.levels[at].keeps,
                               tile_at(mapping_, problem_, at), counting_);
                need = need && more ? checked_add(*need, *more) : std::nullopt;
            });
            if (!need || *need > *store.capacity_bytes) {
                fail("over-capacity",
                     fmt::format("the tiles in {} need {} of its {} bytes", name(level),
                                 need ? fmt::format("{}", *need) : "far more",
                                 *store.capacity_bytes),
                     fmt::format("levels[{}]", level));
            }
        }
    }

    const Mapping& mapping_;
    const Problem& problem_;
    const Accelerator& machine_;
    Counting counting_;
    Diagnostics found_;
};

std::string loops_text(const LevelMapping& level, const Level& machine) {
    std::string text;
    for (const TemporalLoop& loop : level.temporal) {
        text += fmt::format(" {}{}", letter(loop.dim), loop.bound);
    }
    text = "for" + (text.empty() ? " -" : text);
    std::string spread;
    for (const SpatialLoop& loop : level.spatial) {
        const std::string axis =
            loop.axis < machine.fanout.size() ? machine.fanout[loop.axis].name : "?";
        spread += fmt::format(" {}{}@{}", letter(loop.dim), loop.bound, axis);
    }
    return spread.empty() ? text : text + "  par" + spread;
}

} // namespace

Extents tile_at(const Mapping& mapping, const Problem& problem, std::size_t level) {
    const Extents limit = loop_bounds(problem);
    Extents tile = kOnes;
    const auto grow = [&](Dim dim, Count trips) {
        Count& extent = tile[index(dim)];
        extent = clipped_product(extent, trips, limit[index(dim)]);
    };
    for (std::size_t i = level; i < mapping.levels.size(); ++i) {
        for (const TemporalLoop& loop : mapping.levels[i].temporal) {
            grow(loop.dim, loop.bound);
        }
        for (const SpatialLoop& loop : mapping.levels[i].spatial) {
            grow(loop.dim, loop.bound);
        }
    }
    return tile;
}

Diagnostics validate(const Mapping& mapping, const Problem& problem, const Accelerator& machine,
                     Counting counting) {
    return MappingChecker(mapping, problem, machine, counting).run();
}

std::string to_text(const Mapping& mapping, const Accelerator& machine) {
    std::string text;
    std::size_t width = 0;
    for (const Level& level : machine.levels) {
        width = std::max(width, level.name.size());
    }
    for (std::size_t i = 0; i < mapping.levels.size() && i < machine.levels.size(); ++i) {
        const LevelMapping& level = mapping.levels[i];
        std::string keeps;
        for (const Operand o : {Operand::weight, Operand::input, Operand::output}) {
            keeps += level.keeps.contains(o) ? "WIO"[o == Operand::weight  ? 0
                                                     : o == Operand::input ? 1
                                                                           : 2]
                                             : '-';
        }
        text += fmt::format("{:<{}}  keep {}  {}\n", machine.levels[i].name, width, keeps,
                            loops_text(level, machine.levels[i]));
    }
    return text;
}

} // namespace eyeroof::model
