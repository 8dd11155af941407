#include "mapper/estimate.hpp"

#include <algorithm>
#include <limits>
#include <map>

// Floors: how little the traffic into a level can cost when only that level's capacity is
// respected. Chains with equal extents at the level are one choice, at the best of their columns; a
// small branch and bound over the six groups finds the least energy. Every mapping is at or above
// its choice.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kMaxNodes = 60000; // then the level goes without a floor

using Choices = std::vector<std::vector<double>>; // columns of each

Count extent_at(const Split& split, std::size_t level, std::size_t levels, Count bound) {
    Count tile = 1;
    for (std::size_t i = level; i < levels; ++i) {
        tile *= split.temporal[i] * split.spatial[i];
    }
    return std::min(tile, bound);
}

// Leaves of a group with their columns, put together by their extents at the level.
Choices choices_of(const Space& space, std::size_t g, std::size_t level) {
    const Group& group = space.groups[g];
    std::vector<bool> most(space.columns, false);
    for (const Link& link : space.links) {
        if (link.produced) {
            most[link.lanes] = true;
        }
    }
    std::map<std::pair<Count, Count>, std::vector<double>> by_extent;
    for (std::size_t n = 0; n < group.nodes.size(); ++n) {
        if (group.nodes[n].children > 0) {
            continue;
        }
        const Chain& chain = group.chains[group.nodes[n].chain];
        const auto bound = [&](std::size_t d) {
            return space.task->problem.bounds[index(group.dims[d])];
        };
        const std::size_t levels = space.keeps.size();
        const Count tap = group.dims.size() > 1 ? extent_at(chain.tap, level, levels, bound(1)) : 1;
        auto& best = by_extent[{extent_at(chain.first, level, levels, bound(0)), tap}];
        const double* own = space.column(g, n);
        if (best.empty()) {
            best.assign(own, own + space.columns);
        }
        for (std::size_t c = 0; c < space.columns; ++c) {
            best[c] = most[c] ? std::max(best[c], own[c]) : std::min(best[c], own[c]);
        }
    }
    Choices choices;
    for (auto& [extent, columns] : by_extent) {
        choices.push_back(std::move(columns));
    }
    return choices;
}

class FloorSearch {
  public:
    FloorSearch(const Space& space, std::size_t level)
        : space_(space), level_(level), estimator_(space), product_(space.columns) {
        for (std::size_t g = 0; g < kGroups; ++g) {
            choices_[g] = choices_of(space, g, level);
            at_[g] = space.column(g, 0);
        }
    }

    double run() {
        descend(0);
        return nodes_ > kMaxNodes || least_ == kNone ? 0.0 : least_;
    }

  private:
    bool load() {
        ++nodes_;
        estimator_.multiply_tiles(at_, product_.data());
        if (!estimator_.fits_level(product_.data(), level_)) {
            return false;
        }
        estimator_.multiply_rest(at_, product_.data());
        return true;
    }

    void descend(std::size_t step) {
        if (nodes_ > kMaxNodes) {
            return;
        }
        if (step == kGroups) {
            load();
            least_ = std::min(least_, estimator_.into_level_pj(product_.data(), level_, true));
            return;
        }
        const std::size_t g = kOrder[step];
        const double* before = at_[g];
        std::vector<std::pair<double, const double*>> next;
        for (const auto& choice : choices_[g]) {
            at_[g] = choice.data();
            if (load()) {
                next.push_back(
                    {estimator_.into_level_pj(product_.data(), level_, false), choice.data()});
            }
        }
        std::stable_sort(next.begin(), next.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [pj, columns] : next) {
            if (pj < least_) {
                at_[g] = columns;
                descend(step + 1);
            }
        }
        at_[g] = before;
    }

    static constexpr std::array<std::size_t, kGroups> kOrder = {2, 3, 4, 5, 0, 1};
    const Space& space_;
    std::size_t level_;
    Estimator estimator_;
    std::vector<double> product_;
    std::array<const double*, kGroups> at_{};
    std::array<Choices, kGroups> choices_;
    double least_ = kNone;
    std::uint64_t nodes_ = 0;
};

} // namespace

std::array<double, kMaxLevels> find_floors(const Space& space) {
    std::array<double, kMaxLevels> floors{};
    for (std::size_t i = 1; i < space.keeps.size(); ++i) {
        const bool has_links = std::any_of(space.links.begin(), space.links.end(),
                                           [i](const Link& link) { return link.child == i; });
        if (has_links) {
            floors[i] = FloorSearch(space, i).run();
        }
    }
    return floors;
}

} // namespace eyeroof::mapper
