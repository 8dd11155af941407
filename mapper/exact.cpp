#include "mapper/exact.hpp"

#include "mapper/parallel.hpp"
#include "mapper/placement.hpp"
#include "mapper/reported.hpp"
#include "mapper/walk.hpp"

#include <algorithm>
#include <memory>

// First all nodes with their trips in space decided are collected, with the floors found there;
// then the walks below them run, those with the least bounds first: good mappings are found soon,
// and what is left when one is found needs no walk. The proof: every mapping lies below some node,
// bounds never exceed the value of a mapping below, so when no node is left no mapping is better
// than the best found, up to kSlack.
//
// The answer is the first mapping with the best value in the order of jobs and of the depth-first
// walk in each, whatever the number of threads: a mapping of an earlier job replaces one of equal
// value, and an earlier job goes on as long as it may find one. What was known before comes first.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::size_t kMostStarts = 400000; // nodes with their trips in space that are collected

// The branches that may hold a better mapping than the one known, with their floors, and the nodes
// of the first group in each.
std::vector<Start> roots_of(Shared& shared, std::vector<Branch>& branches, int threads) {
    for (std::size_t s = 0; s < shared.spaces.size(); ++s) {
        for (std::size_t f = 0; f < shared.estimators[s].families().size(); ++f) {
            branches.push_back({s, f});
        }
    }
    std::vector<std::vector<Candidate>> roots(branches.size());
    in_parallel(threads, branches.size(), [&](std::size_t b) {
        Walker walker(shared, branches[b]);
        shared.over = shared.over || shared.effort.over();
        if (shared.over) {
            roots[b] = {{walker.root_bound(), 0}};
        } else if (walker.find_floors(branches[b].floors)) {
            roots[b] = walker.roots();
        }
        shared.add(walker.counts);
    });
    std::vector<Start> starts;
    for (std::size_t b = 0; b < branches.size(); ++b) {
        for (const Candidate& root : roots[b]) {
            Start start{b, root.bound};
            start.at[kFirstGroup] = root.node;
            starts.push_back(start);
        }
    }
    return starts;
}

// A worker's walker of the branch that it worked on last.
class LastWalker {
  public:
    LastWalker(Shared& shared, const std::vector<Branch>& branches)
        : shared_(shared), branches_(branches), branch_(branches.size()) {}

    Walker& of(std::size_t branch) {
        if (branch != branch_) {
            branch_ = branch;
            walker_ = std::make_unique<Walker>(shared_, branches_[branch]);
        }
        return *walker_;
    }

  private:
    Shared& shared_;
    const std::vector<Branch>& branches_;
    std::size_t branch_;
    std::unique_ptr<Walker> walker_;
};

// Below each root the nodes with their trips in space decided, or the root itself where these are
// too many; the least bound first.
std::vector<Start> starts_of(Shared& shared, const std::vector<Branch>& branches,
                             std::vector<Start> roots, int threads) {
    const std::size_t most = kMostStarts / std::max<std::size_t>(1, roots.size());
    std::vector<std::vector<Start>> spread(roots.size());
    in_parallel_with(
        threads, roots.size(), [&] { return LastWalker(shared, branches); },
        [&](LastWalker& last, std::size_t r) {
            Walker& walker = last.of(roots[r].branch);
            if (shared.over || !walker.spread(roots[r], most, spread[r])) {
                spread[r] = {roots[r]};
            }
            shared.add(walker.counts);
            walker.counts = {};
        });
    std::vector<Start> starts;
    for (const std::vector<Start>& some : spread) {
        starts.insert(starts.end(), some.begin(), some.end());
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.bound < b.bound; });
    return starts;
}

void tell(const Shared& shared, const std::vector<Start>& starts, std::size_t at) {
    const double best = shared.best.load();
    if (shared.progress) {
        const bool found = best < kNoValue;
        shared.progress({static_cast<double>(at) / static_cast<double>(starts.size()),
                         "searching mappings", found ? best : 0.0,
                         found ? std::max(0.0, (best - starts[at].bound) / best) : -1.0});
    }
}

void run_walks(Shared& shared, const std::vector<Branch>& branches, std::vector<Start>& starts,
               int threads) {
    std::mutex telling;
    in_parallel_with(
        threads, starts.size(), [&] { return LastWalker(shared, branches); },
        [&](LastWalker& last, std::size_t j) {
            Start& start = starts[j];
            if (start.bound > shared.best.load() * (1.0 + kSlack)) {
                return;
            }
            if (shared.over) {
                start.left = start.bound;
                return;
            }
            Walker& walker = last.of(start.branch);
            start.left = walker.run(static_cast<std::uint32_t>(j) + 1, start);
            shared.add(walker.counts);
            walker.counts = {};
            std::lock_guard lock(telling);
            tell(shared, starts, j);
        });
}

// The mapping as it is placed on the axes, if it is better.
void judge(const Task& task, const Mapping& mapping, std::optional<SearchResult>& best) {
    auto cost = cost_of(task.problem, task.machine, mapping, task.counting);
    if (!cost) {
        return;
    }
    SearchResult result;
    result.latency = reported_latency(task, mapping, *cost);
    const double cycles = result.latency.total_cycles();
    if (!task.constraints.allow(cost->energy_pj, cycles)) {
        return;
    }
    result.certificate.value = task.objective.value(cost->energy_pj, cycles);
    if (!best || result.certificate.value < best->certificate.value) {
        result.mapping = mapping;
        result.cost = *std::move(cost);
        best = std::move(result);
    }
}

} // namespace

ShortChain fewest_hops(const Task& task, const Space& space,
                       const std::array<std::uint32_t, kGroups>& chains) {
    const std::size_t edge = array_edge(task.machine);
    ShortChain best;
    auto ways = placements_of(space, chains, edge);
    for (auto& way : ways) {
        const double hops = chain_hops(task.problem, task.machine, edge, way);
        if (hops < best.hops) {
            best.hops = hops;
            best.loops = std::move(way);
        }
    }
    best.least = ways.size() < kMostPlacements ? best.hops : 0.0;
    return best;
}

std::optional<SearchResult> realise(const Task& task, const Space& space, const Leaf& leaf,
                                    bool& all_placed) {
    auto mapping = mapping_of(space, leaf.chains, leaf.orders);
    if (!mapping) {
        return std::nullopt;
    }
    std::optional<SearchResult> best;
    all_placed = place_all(task, space, leaf.chains, *mapping,
                           [&](const Mapping& placed) { judge(task, placed, best); });
    return best;
}

ExactOutcome search_exact(const Task& task, const std::vector<Space>& spaces,
                          const SearchOptions& options, std::optional<SearchResult> known,
                          const Effort& effort, const ProgressCallback& progress) {
    const int threads = std::max(1, options.threads);
    Shared shared{task, spaces, effort, progress};
    for (const Space& space : spaces) {
        shared.estimators.emplace_back(space);
        shared.tables.emplace_back(space);
        shared.memories.emplace_back();
    }
    in_parallel(threads, spaces.size(), [&](std::size_t s) {
        if (!shared.tables[s].fill(effort)) {
            shared.over = true;
        }
    });
    if (known) {
        shared.offer(kKnown, *std::move(known), 0);
    }
    std::vector<Branch> branches;
    std::vector<Start> roots = roots_of(shared, branches, threads);
    std::vector<Start> starts = starts_of(shared, branches, std::move(roots), threads);
    run_walks(shared, branches, starts, threads);
    shared.outcome.complete = !shared.over;
    double bound = std::min(shared.best * (1.0 - kSlack), shared.outcome.left_out);
    for (const Start& start : starts) {
        bound = std::min(bound, shared.over ? start.left : kNoValue);
    }
    shared.outcome.lower_bound = bound;
    shared.outcome.from_start = shared.best_job == kKnown;
    shared.outcome.best = std::move(shared.found);
    return std::move(shared.outcome);
}

} // namespace eyeroof::mapper
