// Branch and bound over the trees of all spaces of a task.
#pragma once

#include "mapper/effort.hpp"
#include "mapper/estimate.hpp"
#include "mapper/search_below.hpp"

#include <functional>
#include <limits>

namespace eyeroof::mapper {

// A leaf: one chain a group, in one space.
struct Leaf {
    std::size_t space = 0;
    std::array<std::uint32_t, kGroups> chains{};
    std::vector<BlockOrder> orders;

    bool operator==(const Leaf&) const = default;
};

struct ExactOutcome {
    std::optional<SearchResult> best;
    double lower_bound = 0.0;
    bool complete = false;
    bool even_complete = false; // of a search that goes on to uneven mappings: none is left before
    bool from_start = false;    // nothing in the spaces is as good as what was known before
    // Least bound of the mappings that could be put on the axes in more ways than were looked at.
    double left_out = std::numeric_limits<double>::infinity();
    std::uint64_t nodes = 0;
    std::map<std::string, std::uint64_t> pruned;
    std::vector<Improvement> history;
};

// `known`: a mapping to beat, if there is one. `below`: every mapping below its cutoff is handed
// on, and none is the best.
ExactOutcome search_exact(const Task& task, const std::vector<Space>& spaces,
                          const SearchOptions& options, std::optional<SearchResult> known,
                          const Effort& effort, const ProgressCallback& progress,
                          const Below* below = nullptr);

// A good mapping, quickly: hill climbing from a few points of each space. The same for each call
// that has the time to end.
std::optional<SearchResult> first_incumbent(const Task& task, const std::vector<Space>& spaces,
                                            int threads, const Effort& effort);

// The placement of the trips in space below the array's edge with the shortest chain through the
// array; endless when they fit no axes.
struct ShortChain {
    double hops = std::numeric_limits<double>::infinity();
    double least = 0.0; // hops of any placement, at least: fewer where not all were looked at
    std::vector<model::SpatialLoop> loops;
};
ShortChain fewest_hops(const Task& task, const Space& space,
                       const std::array<std::uint32_t, kGroups>& chains);

// The value of a leaf's mapping, exactly, on the axes where it is best; nothing when it breaks a
// rule that cost factors do not see. `all_placed` becomes false where there are more than
// kMostPlacements ways on a level, of which only the first were looked at.
std::optional<SearchResult> realise(const Task& task, const Space& space, const Leaf& leaf,
                                    bool& all_placed);

} // namespace eyeroof::mapper
