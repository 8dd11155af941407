// Lower bounds: how little the traffic into a level can cost when only that level's capacity is
// respected.
#pragma once

#include "mapper/estimate.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace eyeroof::mapper {

// Chains with equal extents at a level, as one choice, at the best of their cost factors: below
// each node of the trees at which the trips in space are decided, and below the roots.
class LowerBoundTables {
  public:
    struct Choices {
        std::vector<double> rows; // of the level's cost factors; the first row bounds the others
        std::size_t count = 0;    // rows after the first
    };

    explicit LowerBoundTables(const Space& space);
    // Once, before it is read; false, and not to be read, when the time was over.
    bool fill(const Effort& effort);

    const Space& space() const { return *space_; }
    const std::vector<std::uint32_t>& cost_factors(std::size_t level) const {
        return cost_factors_[level];
    }
    // `node`: 0, or a child of it.
    const Choices& choices(std::size_t group, std::uint32_t node, std::size_t level) const {
        return choices_[level][group][node];
    }

  private:
    using Extent = std::pair<Count, Count>;
    struct Table;

    void list_cost_factors(std::size_t level);
    void collect(std::size_t group, std::uint32_t node, std::size_t level, Table& table) const;
    Choices finished(const Table& table) const;
    template <class Of> void merge(Table& table, const Extent& extent, Of of) const;
    template <class Of> void take(std::size_t level, double* into, Of of) const;

    const Space* space_;
    std::array<std::vector<std::uint32_t>, kMaxLevels> cost_factors_;
    std::array<std::vector<std::uint32_t>, kMaxLevels> most_; // places whose greatest bounds
    std::array<std::array<std::vector<Choices>, kGroups>, kMaxLevels> choices_; // by node
};

// Lower bounds that were found, for all searches of a space: families of orders that treat the
// links into a level alike share them. Safe to use from several threads.
class LowerBoundCache {
  public:
    struct Key {
        std::array<std::uint32_t, kGroups> nodes{};
        std::uint32_t level = 0;
        std::uint32_t orders = 0;

        bool operator==(const Key&) const = default;
    };

    // The number of a level's orders: equal for equal lists of variants.
    std::uint32_t orders_id(const std::vector<std::uint8_t>& variants);
    std::optional<double> recall(const Key& key);
    void keep(const Key& key, double lower_bound);

  private:
    struct Hash {
        std::size_t operator()(const Key& key) const;
    };
    struct Shard {
        std::mutex mutex;
        std::unordered_map<Key, double, Hash> lower_bounds;
    };
    static constexpr std::size_t kShards = 16;
    static constexpr std::size_t kMostEach = 1
                                             << 13; // lower bounds of a shard; the rest is not kept

    std::array<Shard, kShards> shards_;
    std::mutex mutex_;
    std::map<std::vector<std::uint8_t>, std::uint32_t> orders_;
};

// A small branch and bound over the choices of the six groups finds the least energy of the links
// into a level. Every mapping is at or above its choice, so the sum of lower bounds bounds every
// mapping.
class LowerBoundFinder {
  public:
    // The estimator says which orders are meant. All must outlive the finder.
    LowerBoundFinder(const LowerBoundTables& tables, LowerBoundCache& memory, Estimator& estimator);

    // Levels that have a link into them and thus a lower bound.
    bool has_lower_bound(std::size_t level) const { return !tables_.cost_factors(level).empty(); }
    // Least energy of the links into `level` over all chains below these nodes of the trees (roots
    // or children of roots); infinite when no tile fits. Looks at most at `max_nodes` choices, and
    // then gives a bound.
    double lower_bound(std::size_t level, const std::array<std::uint32_t, kGroups>& nodes,
                       std::uint64_t max_nodes);
    std::uint64_t nodes() const { return all_nodes_; }

  private:
    double found(std::size_t level, const std::array<std::uint32_t, kGroups>& nodes,
                 std::uint64_t max_nodes);
    void descend(std::size_t step);
    double bound_of(const double* row);

    const LowerBoundTables& tables_;
    LowerBoundCache& memory_;
    std::array<std::uint32_t, kMaxLevels> orders_{}; // by level: number of its orders
    struct Read { // a cost factor of a level that meant orders read, and its place in the rows
        std::uint32_t place = 0;
        std::uint32_t cost_factor = 0;
    };
    std::array<std::vector<Read>, kMaxLevels> reads_; // by level
    Estimator& estimator_;
    std::vector<double> product_;
    std::uint64_t all_nodes_ = 0;

    // Of the search that runs.
    std::size_t level_ = 0;
    std::array<const LowerBoundTables::Choices*, kGroups> choices_{};
    std::array<const double*, kGroups> at_{};
    std::vector<double> others_; // product of the groups that are not being chosen
    std::array<std::vector<std::pair<double, const double*>>, kGroups> next_; // by step
    double least_ = 0.0;
    double left_ = 0.0;
    std::uint64_t nodes_ = 0;
    std::uint64_t max_nodes_ = 0;
};

} // namespace eyeroof::mapper
