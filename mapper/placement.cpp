#include "mapper/placement.hpp"

#include "mapper/reported.hpp"
#include "model/nest/neighbours.hpp"

#include <algorithm>
#include <set>

namespace eyeroof::mapper {

using namespace model;

namespace {

using Loops = std::vector<SpatialLoop>;

bool has_trips(const LevelMapping& level, Dim dim, bool in_space) {
    const auto of_dim = [dim](const auto& loop) { return loop.dim == dim && loop.bound > 1; };
    return in_space ? std::any_of(level.spatial.begin(), level.spatial.end(), of_dim)
                    : std::any_of(level.temporal.begin(), level.temporal.end(), of_dim);
}

// Orders of these loops, some of them more than once under another name: loops of different
// dimensions on different axes may be swapped at will.
template <class Each> bool each_order(Loops loops, Each each) {
    constexpr std::size_t kMost = 8;
    if (loops.size() > kMost) {
        each(loops);
        return false;
    }
    const auto key = [](const SpatialLoop& l) { return std::pair(l.axis, l.dim); };
    const auto less = [&](const SpatialLoop& a, const SpatialLoop& b) { return key(a) < key(b); };
    std::sort(loops.begin(), loops.end(), less);
    do {
        bool first_name = true;
        for (std::size_t n = 0; n + 1 < loops.size(); ++n) {
            const bool apart =
                loops[n].axis != loops[n + 1].axis && loops[n].dim != loops[n + 1].dim;
            first_name = first_name && !(apart && less(loops[n + 1], loops[n]));
        }
        if (first_name && !each(loops)) {
            return false;
        }
    } while (std::next_permutation(loops.begin(), loops.end(), less));
    return true;
}

class Placer {
  public:
    Placer(const Task& task, const Space& space, const std::array<std::uint32_t, kGroups>& chains,
           Mapping& mapping, const std::function<void(const Mapping&)>& judge)
        : task_(task), space_(space), chains_(chains), mapping_(mapping), judge_(judge) {}

    bool run() {
        place(0);
        return all_;
    }

  private:
    void place(std::size_t level) {
        if (level == mapping_.levels.size()) {
            judge_(mapping_);
            return;
        }
        Loops& loops = mapping_.levels[level].spatial;
        if (ramps_matter(task_) && level == array_edge(task_.machine)) {
            loops = fewest_hops(task_, space_, chains_).loops;
        }
        if (!may_pass_on(level) && !may_share(level)) {
            place(level + 1);
            return;
        }
        for (const Loops& kind : kinds(level)) {
            loops = kind;
            place(level + 1);
        }
    }

    // May units below this level pass input windows on? Only where the positions of a window move
    // in time and its taps in space, or the other way round; see model/nest/neighbours.cpp.
    bool may_pass_on(std::size_t level) const {
        if (task_.counting != Counting::timeloop || mapping_.levels[level].spatial.empty()) {
            return false;
        }
        constexpr std::array<std::pair<Dim, Dim>, 4> kPairs = {
            {{Dim::P, Dim::R}, {Dim::R, Dim::P}, {Dim::Q, Dim::S}, {Dim::S, Dim::Q}}};
        return std::any_of(kPairs.begin(), kPairs.end(), [&](const auto& pair) {
            bool moves = false;
            for (std::size_t i = 0; i <= level; ++i) {
                moves = moves || has_trips(mapping_.levels[i], pair.first, false);
            }
            return moves && has_trips(mapping_.levels[level], pair.second, true);
        });
    }

    // May equal windows lie in containers one inside the other, which do not share them? Only where
    // positions and taps of a window lie side by side.
    bool may_share(std::size_t level) const {
        const LevelMapping& loops = mapping_.levels[level];
        return task_.counting == Counting::timeloop && in_containers(level) &&
               ((has_trips(loops, Dim::P, true) && has_trips(loops, Dim::R, true)) ||
                (has_trips(loops, Dim::Q, true) && has_trips(loops, Dim::S, true)));
    }
    bool in_containers(std::size_t level) const {
        const Level& of = task_.machine.levels[level];
        return !of.fanout.empty() && nest::container_of(of, of.fanout.size() - 1) > 0;
    }

    // One way of each kind: of those that pass on as many words over every link, and send as many.
    std::vector<Loops> kinds(std::size_t level) {
        std::vector<Loops> kinds;
        std::set<std::vector<Count>> known;
        std::size_t looked_at = 0;
        const auto look = [&](const Loops& loops) {
            mapping_.levels[level].spatial = loops;
            if (known.insert(passed()).second) {
                kinds.push_back(loops);
            }
            return ++looked_at < kMostPlacements;
        };
        const auto ways = placements_of(space_, chains_, level);
        all_ = all_ && ways.size() < kMostPlacements;
        for (const Loops& way : ways) {
            if (!each_order(way, look)) {
                all_ = false;
                break;
            }
        }
        return kinds;
    }

    std::vector<Count> passed() const {
        const nest::Nest nest = nest::flatten(mapping_, task_.machine);
        nest::FlowCounter flow(task_.problem, nest, task_.counting);
        std::vector<Count> words;
        std::size_t parent = mapping_.levels.size();
        for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
            if (!mapping_.levels[i].keeps.contains(Operand::input)) {
                continue;
            }
            if (parent < i) {
                const auto link = nest::link_transfers(task_.problem, task_.machine, nest, flow,
                                                       Operand::input, parent, i);
                words.push_back(link.not_sent);
                words.push_back(link.passed);
            }
            parent = i;
        }
        bool containers = false;
        for (std::size_t i = 0; i < mapping_.levels.size(); ++i) {
            containers = containers || in_containers(i);
        }
        const auto cost = containers
                              ? cost_of(task_.problem, task_.machine, mapping_, task_.counting)
                              : Result<MappingCost>(MappingCost{});
        for (std::size_t i = 0; cost && i < cost->levels.size(); ++i) {
            words.push_back(cost->levels[i].total[index(Operand::input)].reads);
        }
        return words;
    }

    const Task& task_;
    const Space& space_;
    const std::array<std::uint32_t, kGroups>& chains_;
    Mapping& mapping_;
    const std::function<void(const Mapping&)>& judge_;
    bool all_ = true;
};

} // namespace

bool place_all(const Task& task, const Space& space,
               const std::array<std::uint32_t, kGroups>& chains, Mapping& mapping,
               const std::function<void(const Mapping&)>& judge) {
    return Placer(task, space, chains, mapping, judge).run();
}

} // namespace eyeroof::mapper
