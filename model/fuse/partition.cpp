#include "model/fuse/partition.hpp"

#include <algorithm>
#include <utility>

namespace eyeroof::model::fuse {

namespace {

struct Best {
    double cost = 0.0;
    std::size_t groups = 0;
    std::size_t from = 0; // first member of the last group
    bool reached = false;

    bool worse_than(double other, std::size_t other_groups) const {
        return !reached || std::pair(other, other_groups) < std::pair(cost, groups);
    }
};

} // namespace

std::optional<std::vector<Group>> cheapest_partition(std::size_t members, const CostOfGroup& cost) {
    std::vector<Best> best(members + 1); // of the first so many members
    best[0].reached = true;
    for (std::size_t first = 0; first < members; ++first) {
        if (!best[first].reached) {
            continue;
        }
        for (std::size_t last = first; last < members; ++last) {
            const auto own = cost({first, last});
            if (!own) {
                continue; // a longer group may fit: a stride leaves out what the shorter one needs
            }
            const double sum = best[first].cost + *own;
            const std::size_t groups = best[first].groups + 1;
            if (best[last + 1].worse_than(sum, groups)) {
                best[last + 1] = {sum, groups, first, true};
            }
        }
    }
    if (!best[members].reached) {
        return std::nullopt;
    }
    std::vector<Group> partition;
    for (std::size_t end = members; end > 0; end = best[end].from) {
        partition.push_back({best[end].from, end - 1});
    }
    std::reverse(partition.begin(), partition.end());
    return partition;
}

} // namespace eyeroof::model::fuse
