#include "mapper/lower_bounds.hpp"

#include <algorithm>
#include <limits>

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::array<std::size_t, kGroups> kOrder = {2, 3, 4, 5, 0, 1}; // K C (P,R) (Q,S) N G

} // namespace

// Rows by extents, while leaves are put together.
struct LowerBoundTables::Table {
    std::size_t level = 0;
    std::vector<std::pair<Extent, std::size_t>> index; // extents -> row
    std::vector<double> rows;
};

LowerBoundTables::LowerBoundTables(const Space& space) : space_(&space) {
    for (std::size_t i = 1; i < space.keeps.size(); ++i) {
        const bool has_links = std::any_of(space.links.begin(), space.links.end(),
                                           [i](const Link& link) { return link.child == i; });
        if (has_links) {
            list_cost_factors(i);
        }
    }
}

bool LowerBoundTables::fill(const Effort& effort) {
    for (std::size_t i = 1; i < space_->keeps.size(); ++i) {
        for (std::size_t g = 0; g < kGroups && !cost_factors_[i].empty(); ++g) {
            const Node& root = space_->groups[g].nodes[0];
            choices_[i][g].resize(root.first_child + root.children);
            Table all{i, {}, {}};
            for (std::uint32_t c = root.first_child; c < root.first_child + root.children; ++c) {
                if (effort.over()) {
                    return false;
                }
                Table table{i, {}, {}};
                collect(g, c, i, table);
                choices_[i][g][c] = finished(table);
                for (const auto& [extent, row] : table.index) {
                    const double* from = table.rows.data() + row * cost_factors_[i].size();
                    merge(all, extent, [&](std::size_t n) { return from[n]; });
                }
            }
            choices_[i][g][0] = finished(all);
        }
    }
    return true;
}

// What the tiles of the level and the links into it read.
void LowerBoundTables::list_cost_factors(std::size_t level) {
    std::vector<bool> used(space_->cost_factors, false);
    std::vector<bool> most(space_->cost_factors, false);
    for (const std::size_t cost_factor : space_->tile[level]) {
        used[cost_factor] = cost_factor != 0;
    }
    for (const Link& link : space_->links) {
        const bool into = link.child == level;
        for (std::size_t v = 0; v < link.variants && (into || link.produced); ++v) {
            used[link.received + v] = true;
            used[link.sent + v] = true;
            for (const std::size_t e : link.edges) {
                used[e == 0 ? link.received + v : e + v] = true;
            }
            if (link.produced) {
                used[link.reduced + v] = true;
            }
        }
        if (link.produced) {
            used[link.lanes] = true;
            most[link.lanes] = true;
        }
    }
    for (std::size_t c = 0; c < used.size(); ++c) {
        if (used[c]) {
            if (most[c]) {
                most_[level].push_back(static_cast<std::uint32_t>(cost_factors_[level].size()));
            }
            cost_factors_[level].push_back(static_cast<std::uint32_t>(c));
        }
    }
}

// The least of each cost factor, of some the most. of(n): the row's number n.
template <class Of> void LowerBoundTables::take(std::size_t level, double* into, Of of) const {
    std::array<double, kMaxLevels> most{}; // at most one cost factor a home of the sums
    for (std::size_t n = 0; n < most_[level].size(); ++n) {
        most[n] = std::max(into[most_[level][n]], of(most_[level][n]));
    }
    for (std::size_t c = 0; c < cost_factors_[level].size(); ++c) {
        into[c] = std::min(into[c], of(c));
    }
    for (std::size_t n = 0; n < most_[level].size(); ++n) {
        into[most_[level][n]] = most[n];
    }
}

template <class Of> void LowerBoundTables::merge(Table& table, const Extent& extent, Of of) const {
    const std::size_t width = cost_factors_[table.level].size();
    const auto at = std::lower_bound(table.index.begin(), table.index.end(), extent,
                                     [](const auto& a, const Extent& e) { return a.first < e; });
    if (at != table.index.end() && at->first == extent) {
        take(table.level, table.rows.data() + at->second * width, of);
        return;
    }
    table.index.insert(at, {extent, table.rows.size() / width});
    for (std::size_t c = 0; c < width; ++c) {
        table.rows.push_back(of(c));
    }
}

// Leaves below a node, put together by their extents at the level.
void LowerBoundTables::collect(std::size_t g, std::uint32_t n, std::size_t level,
                               Table& table) const {
    const Group& group = space_->groups[g];
    const Node& node = group.nodes[n];
    if (node.children > 0) {
        for (std::uint32_t c = 0; c < node.children; ++c) {
            collect(g, node.first_child + c, level, table);
        }
        return;
    }
    const Chain& chain = group.chains[node.chain];
    const auto bound = [&](std::size_t d) {
        return space_->task->problem.bounds[index(group.dims[d])];
    };
    const std::size_t levels = space_->keeps.size();
    const Count tap = group.dims.size() > 1 ? extent_at(chain.tap, level, levels, bound(1)) : 1;
    const double* own = space_->cost_factor(g, n);
    const auto& cost_factors = cost_factors_[level];
    merge(table, {extent_at(chain.first, level, levels, bound(0)), tap},
          [&](std::size_t c) { return own[cost_factors[c]]; });
}

LowerBoundTables::Choices LowerBoundTables::finished(const Table& table) const {
    const std::size_t width = cost_factors_[table.level].size();
    Choices choices;
    choices.count = table.index.size();
    choices.rows.assign(table.rows.begin(),
                        table.rows.begin() + static_cast<std::ptrdiff_t>(width));
    for (const auto& [extent, row] : table.index) {
        const double* from = table.rows.data() + row * width;
        choices.rows.insert(choices.rows.end(), from, from + width);
        take(table.level, choices.rows.data(), [&](std::size_t n) { return from[n]; });
    }
    return choices;
}

// ---- memory -------------------------------------------------------------------------------------

std::size_t LowerBoundCache::Hash::operator()(const Key& key) const {
    std::uint64_t h = key.level * 64U + key.orders;
    for (const std::uint32_t node : key.nodes) {
        h = (h ^ node) * 0x9E3779B97F4A7C15U;
        h ^= h >> 29U;
    }
    return static_cast<std::size_t>(h);
}

std::uint32_t LowerBoundCache::orders_id(const std::vector<std::uint8_t>& variants) {
    std::lock_guard lock(mutex_);
    return orders_.try_emplace(variants, static_cast<std::uint32_t>(orders_.size())).first->second;
}

std::optional<double> LowerBoundCache::recall(const Key& key) {
    Shard& shard = shards_[Hash{}(key) % kShards];
    std::lock_guard lock(shard.mutex);
    const auto at = shard.lower_bounds.find(key);
    return at == shard.lower_bounds.end() ? std::nullopt : std::optional(at->second);
}

void LowerBoundCache::keep(const Key& key, double lower_bound) {
    Shard& shard = shards_[Hash{}(key) % kShards];
    std::lock_guard lock(shard.mutex);
    if (shard.lower_bounds.size() < kMostEach) {
        shard.lower_bounds.emplace(key, lower_bound);
    }
}

// ---- finder -------------------------------------------------------------------------------------

LowerBoundFinder::LowerBoundFinder(const LowerBoundTables& tables, LowerBoundCache& memory,
                                   Estimator& estimator)
    : tables_(tables), memory_(memory), estimator_(estimator),
      product_(tables.space().cost_factors, 1.0) {
    for (std::size_t i = 1; i < tables.space().keeps.size(); ++i) {
        orders_[i] = memory.orders_id(estimator.orders().variants_into(i));
        const std::vector<bool> read = estimator.orders().read_into(i);
        const auto& cost_factors = tables.cost_factors(i);
        for (std::size_t c = 0; c < cost_factors.size(); ++c) {
            if (read[cost_factors[c]]) {
                reads_[i].push_back({static_cast<std::uint32_t>(c), cost_factors[c]});
            }
        }
    }
}

// Of the product of the other groups, in others_, and this row.
double LowerBoundFinder::bound_of(const double* row) {
    ++nodes_;
    const double* others = others_.data();
    for (const Read& read : reads_[level_]) {
        product_[read.cost_factor] = others[read.place] * row[read.place];
    }
    return estimator_.fits().at_level(product_.data(), level_)
               ? estimator_.into_level_pj(product_.data(), level_)
               : kNone;
}

void LowerBoundFinder::descend(std::size_t step) {
    while (step < kGroups && choices_[kOrder[step]]->count == 1) {
        ++step;
    }
    if (step == kGroups) {
        return;
    }
    const std::size_t g = kOrder[step];
    const std::size_t width = tables_.cost_factors(level_).size();
    others_.assign(width, 1.0);
    for (std::size_t other = 0; other < kGroups; ++other) {
        if (other != g) {
            for (const Read& read : reads_[level_]) {
                others_[read.place] *= at_[other][read.place];
            }
        }
    }
    bool last = true;
    for (std::size_t s = step + 1; s < kGroups; ++s) {
        last = last && choices_[kOrder[s]]->count == 1;
    }
    auto& next = next_[step];
    next.clear();
    for (std::size_t n = 1; n <= choices_[g]->count; ++n) {
        const double* row = choices_[g]->rows.data() + n * width;
        const double pj = bound_of(row);
        if (pj < least_ && last) {
            least_ = pj;
        } else if (pj < least_) {
            next.push_back({pj, row});
        }
    }
    std::sort(next.begin(), next.end());
    const double* before = at_[g];
    for (const auto& [pj, row] : next) {
        if (pj >= least_) {
            break;
        }
        if (nodes_ > max_nodes_) {
            left_ = std::min(left_, pj);
            break;
        }
        at_[g] = row;
        descend(step + 1);
    }
    at_[g] = before;
}

double LowerBoundFinder::lower_bound(std::size_t level,
                                     const std::array<std::uint32_t, kGroups>& nodes,
                                     std::uint64_t max_nodes) {
    const LowerBoundCache::Key key{nodes, static_cast<std::uint32_t>(level), orders_[level]};
    if (const auto before = memory_.recall(key)) {
        return *before;
    }
    const double least = found(level, nodes, max_nodes);
    memory_.keep(key, least);
    return least;
}

double LowerBoundFinder::found(std::size_t level, const std::array<std::uint32_t, kGroups>& nodes,
                               std::uint64_t max_nodes) {
    level_ = level;
    max_nodes_ = max_nodes;
    nodes_ = 0;
    least_ = kNone;
    left_ = kNone;
    bool single = true;
    for (std::size_t g = 0; g < kGroups; ++g) {
        choices_[g] = &tables_.choices(g, nodes[g], level);
        at_[g] = choices_[g]->rows.data();
        single = single && choices_[g]->count == 1;
    }
    if (single) {
        const std::size_t width = tables_.cost_factors(level).size();
        others_.assign(width, 1.0);
        for (std::size_t g = 1; g < kGroups; ++g) {
            for (std::size_t c = 0; c < width; ++c) {
                others_[c] *= at_[g][c];
            }
        }
        least_ = bound_of(at_[0]);
    } else {
        descend(0);
    }
    all_nodes_ += nodes_;
    return std::min(least_, left_);
}

} // namespace eyeroof::mapper
