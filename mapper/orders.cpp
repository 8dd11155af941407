#include "mapper/space.hpp"

#include <algorithm>

// From chains and orders back to a mapping.

namespace eyeroof::mapper {

using namespace model;

namespace {

bool moves_all(const Problem& problem, Dim d) {
    return std::all_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
        return relevant(o, d) || (o == Operand::weight && !problem.has_weight);
    });
}

// Lists dimensions once each, the innermost first.
class InnerFirst {
  public:
    explicit InnerFirst(const Problem& problem) : problem_(problem) {}

    template <class Dims, class Chosen> void add(const Dims& dims, Chosen chosen) {
        for (const Dim d : dims) {
            if (chosen(d) && std::find(order.begin(), order.end(), d) == order.end()) {
                order.push_back(d);
            }
        }
    }
    // What an order says comes first: a window, or a dimension without one. Of the latter one that
    // moves the sums is best: where they may rest other orders have them rest over all.
    template <class Chosen> void add_first(Slide slide, Chosen chosen) {
        if (slide != Slide::none) {
            add(std::array{kSlideDims[static_cast<std::size_t>(slide)]}, chosen);
            return;
        }
        const auto plain = [&](Dim d) {
            return chosen(d) && relevant(Operand::input, d) && !has_windows(problem_, d);
        };
        add(kAllDims, [&](Dim d) { return plain(d) && moves_sums(d); });
        add(kAllDims, plain);
    }
    bool moves_sums(Dim d) const { return relevant(problem_.produced, d); }

    std::vector<Dim> order;

  private:
    const Problem& problem_;
};

// Innermost first: the loops over which the stationary operand rests, the window that slides first
// among them, then those that move it, those that move the sums before the others, then everything
// else.
std::vector<Dim> inner_first(const Problem& problem, const BlockOrder& order) {
    InnerFirst dims(problem);
    const bool nothing = order.over && order.over->empty();
    const auto rests = [&](Dim d) {
        return nothing      ? moves_all(problem, d)
               : order.over ? order.over->contains(d)
                            : !relevant(order.stationary, d);
    };
    dims.add_first(order.slide, rests);
    dims.add(std::array{Dim::G, Dim::K, Dim::P, Dim::Q, Dim::R, Dim::S, Dim::C, Dim::N}, rests);
    const auto closes = [&](Dim d) {
        return !order.over || nothing || relevant(order.stationary, d);
    };
    dims.add_first(order.slide, closes);
    constexpr std::array kRest = {Dim::K, Dim::C, Dim::P, Dim::Q, Dim::R, Dim::S, Dim::N, Dim::G};
    dims.add(kRest, [&](Dim d) { return closes(d) && dims.moves_sums(d); });
    dims.add(kRest, closes);
    dims.add(kRest, [](Dim) { return true; });
    return dims.order;
}

std::vector<Dim> with_rule(const std::vector<Dim>& rule, std::vector<Dim> free) {
    std::vector<Dim> dims = rule;
    for (const Dim d : free) {
        if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
            dims.push_back(d);
        }
    }
    return dims;
}

struct Trips {
    Extents temporal = kOnes;
    Extents spatial = kOnes;
    Extents reach = kOnes; // trips in space that have work: tiles below them, at most
};

Trips trips_at(const Space& space, const std::array<std::uint32_t, kGroups>& chains,
               std::size_t level) {
    Trips trips;
    for (std::size_t g = 0; g < kGroups; ++g) {
        const Group& group = space.groups[g];
        const Chain& chain = group.chains[chains[g]];
        for (std::size_t n = 0; n < group.dims.size(); ++n) {
            const Split& split = n == 0 ? chain.first : chain.tap;
            trips.temporal[index(group.dims[n])] = split.temporal[level];
            trips.spatial[index(group.dims[n])] = split.spatial[level];
            Count tile = 1;
            for (std::size_t i = level + 1; i < space.keeps.size(); ++i) {
                tile *= split.temporal[i] * split.spatial[i];
            }
            const Count bound = space.task->problem.bounds[index(group.dims[n])];
            trips.reach[index(group.dims[n])] = ceil_div(bound, tile);
        }
    }
    return trips;
}

// Divides the trips of each dimension over the axes in every way, axis by axis. There may be more
// trips than tiles, where the number of tiles does not divide over the axes: with one less on any
// axis they must not reach.
class Packer {
  public:
    Packer(const Task& task, std::size_t level, const Extents& trips, const Extents& reach)
        : axes_(task.machine.levels[level].fanout), trips_(trips), reach_(reach),
          used_(axes_.size(), 1) {
        if (level < task.constraints.levels.size() && task.constraints.levels[level].axis_dims) {
            rules_ = &*task.constraints.levels[level].axis_dims;
        }
        constexpr std::size_t kUsual = 8;
        loops.reserve(kUsual);
    }

    // The first way alone …
    bool run() { return next_dim(0); }
    // … or all of them, up to `most`.
    std::vector<std::vector<SpatialLoop>> all(std::size_t most) {
        most_ = most;
        next_dim(0);
        return std::move(ways_);
    }
    std::vector<SpatialLoop> loops;

  private:
    bool next_dim(std::size_t d) {
        while (d < kDims && trips_[d] == 1) {
            ++d;
        }
        return d == kDims ? found() : on_axis(d, 0, trips_[d]);
    }

    // Is it enough?
    bool found() {
        if (most_ > 0) {
            ways_.push_back(loops);
            std::erase_if(ways_.back(), [](const SpatialLoop& loop) { return loop.bound == 1; });
        }
        return ways_.size() >= most_;
    }

    bool on_axis(std::size_t d, std::size_t a, Count rest) {
        if (rest == 1) {
            return next_dim(d + 1);
        }
        if (a == axes_.size()) {
            return false;
        }
        const bool allowed =
            rules_ == nullptr || (a < rules_->size() && (*rules_)[a].contains(kAllDims[d]));
        const Count room = allowed ? axes_[a].size / used_[a] : 1;
        for (Count part = std::min(room, rest); part >= 1; --part) {
            const bool needed = (part - 1) * (trips_[d] / part) < reach_[d];
            if (rest % part != 0 || !needed) {
                continue;
            }
            used_[a] *= part;
            loops.push_back({kAllDims[d], part, static_cast<std::uint8_t>(a)});
            if (on_axis(d, a + 1, rest / part)) {
                return true;
            }
            loops.pop_back();
            used_[a] /= part;
        }
        return false;
    }

    const std::vector<Axis>& axes_;
    const Extents& trips_;
    const Extents& reach_;
    std::vector<Count> used_;
    const std::vector<DimSet>* rules_ = nullptr;
    std::size_t most_ = 0; // ways that are wanted; 0: whether there is one
    std::vector<std::vector<SpatialLoop>> ways_;
};

} // namespace

bool pack_axes(const Task& task, std::size_t level, const Extents& trips, const Extents& reach,
               std::vector<SpatialLoop>* loops) {
    Packer packer(task, level, trips, reach);
    if (!packer.run()) {
        return false;
    }
    if (loops != nullptr) {
        std::erase_if(packer.loops, [](const SpatialLoop& loop) { return loop.bound == 1; });
        *loops = std::move(packer.loops);
    }
    return true;
}

std::vector<std::vector<SpatialLoop>>
placements_of(const Space& space, const std::array<std::uint32_t, kGroups>& chains,
              std::size_t level) {
    const Trips trips = trips_at(space, chains, level);
    return Packer(*space.task, level, trips.spatial, trips.reach).all(kMostPlacements);
}

bool axes_fit(const Space& space, const std::array<std::uint32_t, kGroups>& chains) {
    for (std::size_t i = 0; i < space.keeps.size(); ++i) {
        if (space.task->machine.levels[i].fanout.empty()) {
            continue;
        }
        const Trips trips = trips_at(space, chains, i);
        if (!pack_axes(*space.task, i, trips.spatial, trips.reach, nullptr)) {
            return false;
        }
    }
    return true;
}

std::optional<Mapping> mapping_of(const Space& space,
                                  const std::array<std::uint32_t, kGroups>& chains,
                                  const std::vector<BlockOrder>& orders) {
    const Task& task = *space.task;
    Mapping mapping;
    for (std::size_t i = 0; i < space.keeps.size(); ++i) {
        LevelMapping level;
        level.keeps = space.keeps[i];
        const Trips trips = trips_at(space, chains, i);
        if (!pack_axes(task, i, trips.spatial, trips.reach, &level.spatial)) {
            return std::nullopt;
        }
        const std::vector<Dim> rule = i < task.constraints.levels.size()
                                          ? task.constraints.levels[i].order
                                          : std::vector<Dim>();
        const std::vector<Dim> order = with_rule(rule, inner_first(task.problem, orders[i]));
        for (auto d = order.rbegin(); d != order.rend(); ++d) {
            if (trips.temporal[index(*d)] > 1) {
                level.temporal.push_back({*d, trips.temporal[index(*d)]});
            }
        }
        mapping.levels.push_back(std::move(level));
    }
    return mapping;
}

} // namespace eyeroof::mapper
