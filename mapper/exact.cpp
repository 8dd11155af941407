#include "mapper/exact.hpp"

#include "base/parallel.hpp"
#include "mapper/branch_and_bound.hpp"
#include "mapper/open_nodes.hpp"
#include "mapper/placement.hpp"
#include "mapper/reported.hpp"

#include <algorithm>
#include <memory>

// The node with the least bound comes first. While trips in space are open it is one of all orders
// of a space together, as what fits does not depend on orders, and those with one more group
// decided take its place; then what it is in each branch, with the lower bounds found there; then
// those with the outermost level's trips in time decided, and the searches below these run. So good
// mappings are found soon, and what is left when one is found needs no search. The proof: every
// mapping lies below some node, bounds never exceed the value of a mapping below, so when no node
// is left no mapping is better than the best found, up to kSlack.
//
// The answer is the first mapping with the best value in the order of jobs and of the depth-first
// search in each, whatever the number of threads: a mapping of an earlier job replaces one of equal
// value, and an earlier job goes on as long as it may find one. What was known before comes first.

namespace eyeroof::mapper {

using namespace model;

namespace {

// The branches of all spaces, with their lower bounds; `bounds`: endless where nothing better than
// what is known may be found.
std::vector<Branch> branches_of(SearchState& shared, int threads, std::vector<double>& bounds) {
    std::vector<Branch> branches;
    for (std::size_t s = 0; s < shared.spaces.size(); ++s) {
        for (std::size_t f = 0; f < shared.estimators[s].orders().families().size(); ++f) {
            branches.push_back({s, f});
        }
    }
    bounds.assign(branches.size(), kNoValue);
    in_parallel(threads, branches.size(), [&](std::size_t b) {
        BranchAndBound worker(shared, branches[b]);
        shared.over = shared.over || shared.effort.over();
        if (shared.over || worker.find_lower_bounds(branches[b].lower_bounds)) {
            bounds[b] = worker.root_bound();
        }
        shared.add(worker.counts);
    });
    return branches;
}

// All orders of a space together: lower bounds that hold for each branch that is left.
std::vector<Branch> spaces_of(const SearchState& shared, const std::vector<Branch>& branches,
                              const std::vector<double>& bounds) {
    std::vector<Branch> spaces;
    for (std::size_t s = 0; s < shared.spaces.size(); ++s) {
        Branch all{s};
        all.lower_bounds.fill(kNoValue);
        for (std::size_t b = 0; b < branches.size(); ++b) {
            for (std::size_t i = 0;
                 branches[b].space == s && bounds[b] < kNoValue && i < kMaxLevels; ++i) {
                all.lower_bounds[i] = std::min(all.lower_bounds[i], branches[b].lower_bounds[i]);
            }
        }
        spaces.push_back(all);
    }
    return spaces;
}

// Nodes of the first group, of all orders of a space together, the least bound first; their branch
// is that of the space, after all branches.
std::vector<Start> starts_of(SearchState& shared, const std::vector<Branch>& branches,
                             const std::vector<Branch>& spaces, const std::vector<double>& bounds) {
    std::vector<Start> starts;
    for (std::size_t s = 0; s < spaces.size(); ++s) {
        if (spaces[s].lower_bounds[0] < kNoValue && !shared.over) {
            BranchAndBound worker(shared, spaces[s]);
            for (const Candidate& root : worker.roots()) {
                starts.push_back({branches.size() + s, root.bound});
                starts.back().at[kFirstGroup] = root.node;
            }
            shared.add(worker.counts);
        }
    }
    // Where not all nodes were collected the bounds of the branches hold for what is left.
    for (std::size_t b = 0; b < branches.size() && shared.over; ++b) {
        starts.push_back({b, bounds[b]});
    }
    std::stable_sort(starts.begin(), starts.end(),
                     [](const Start& a, const Start& b) { return a.bound < b.bound; });
    for (std::size_t n = 0; n < starts.size(); ++n) {
        starts[n].number = static_cast<std::uint32_t>(n);
    }
    return starts;
}

void tell(const SearchState& shared, const OpenNodes& open, std::size_t done) {
    const double best = shared.best.load();
    if (shared.progress) {
        const bool found = best < kNoValue;
        const double all = static_cast<double>(done + open.size() + 1);
        shared.progress({static_cast<double>(done) / all, "searching mappings", found ? best : 0.0,
                         found ? std::max(0.0, 1.0 - open.least_bound() / best) : -1.0});
    }
}

// Takes the node with the least bound, and puts those below it at which one more level is decided
// in its place; beyond that level, or where these are too many, all below it is searched. A short
// search below the best of them gives a mapping early.
class Worker {
  public:
    // `bounds`: of the branches, endless where nothing is to be found.
    // `spaces`: all orders of each together.
    Worker(SearchState& shared, const std::vector<Branch>& branches,
           const std::vector<Branch>& spaces, const std::vector<double>& bounds, OpenNodes& open)
        : shared_(shared), branches_(branches), bounds_(bounds), open_(open), spaces_(spaces),
          workers_(branches.size()), all_orders_(spaces.size()) {}

    // False when nothing is left to do.
    bool work() {
        const std::optional<Start> start = open_.next();
        if (!start) {
            return false;
        }
        std::vector<Start> below;
        double left = kNoValue;
        if (start->bound <= shared_.best.load() * (1.0 + kSlack)) {
            left = search(*start, below);
        }
        open_.done(below, left);
        if (shared_.over) {
            open_.end();
        }
        return true;
    }

  private:
    static constexpr std::size_t kMostBelow = 4000;  // nodes below one that are kept open …
    static constexpr std::size_t kMostOpen = 400000; // … and open nodes
    static constexpr std::uint64_t kTaste = 1500;    // nodes of a short search
    static constexpr std::size_t kMostWorkers = 300; // that are kept

    double search(const Start& start, std::vector<Start>& below) {
        if (shared_.over) {
            return start.bound;
        }
        if (start.branch >= branches_.size()) {
            const bool whole = start.spread() || open_.size() > kMostOpen;
            return whole ? take_up(start, below) : open_group(start, below);
        }
        BranchAndBound& worker = worker_of(start.branch);
        double left = kNoValue;
        const bool levels_left = start.step < 2 * kGroups;
        const bool few =
            levels_left && open_.size() < kMostOpen && worker.refine(start, kMostBelow, below);
        if (!few) {
            below.clear();
            left = worker.run(start);
        } else if (!below.empty()) {
            worker.run(
                *std::min_element(below.begin(), below.end(),
                                  [](const Start& a, const Start& b) { return a.bound < b.bound; }),
                kTaste);
        }
        shared_.add(worker.counts);
        worker.counts = {};
        return left;
    }

    // A node of all orders of a space together, and not all trips in space decided: one more group.
    double open_group(const Start& node, std::vector<Start>& below) {
        const std::size_t space = node.branch - branches_.size();
        std::unique_ptr<BranchAndBound>& worker = all_orders_[space];
        if (!worker) {
            worker = std::make_unique<BranchAndBound>(shared_, spaces_[space]);
        }
        worker->open_group(node, below);
        shared_.add(worker->counts);
        worker->counts = {};
        return kNoValue;
    }

    // A node of all orders of a space together: what it is in each branch.
    double take_up(const Start& node, std::vector<Start>& below) {
        for (std::size_t b = 0; b < branches_.size(); ++b) {
            if (branches_[b].space != node.branch - branches_.size() || bounds_[b] == kNoValue) {
                continue;
            }
            const std::size_t before = below.size();
            if (shared_.over) {
                below.push_back({b, bounds_[b]});
            } else if (node.spread()) {
                BranchAndBound& worker = worker_of(b);
                worker.take_up(b, node, below);
                shared_.add(worker.counts);
                worker.counts = {};
            } else {
                below.push_back({b, std::max(node.bound, bounds_[b]), node.at, node.step});
            }
            for (std::size_t n = before; n < below.size(); ++n) {
                below[n].number = node.number;
                below[n].node = static_cast<std::uint32_t>(b) + 1;
            }
        }
        double left = kNoValue;
        if (open_.size() > kMostOpen) {
            for (const Start& start : below) {
                left = std::min(left, shared_.over ? start.bound : search_below(start));
            }
            below.clear();
        }
        return left;
    }

    double search_below(const Start& start) {
        BranchAndBound& worker = worker_of(start.branch);
        const double left = worker.run(start);
        shared_.add(worker.counts);
        worker.counts = {};
        return left;
    }

    BranchAndBound& worker_of(std::size_t branch) {
        if (!workers_[branch]) {
            if (++made_ % kMostWorkers == 0) {
                for (auto& worker : workers_) {
                    worker.reset();
                }
            }
            workers_[branch] = std::make_unique<BranchAndBound>(shared_, branches_[branch]);
        }
        return *workers_[branch];
    }

    SearchState& shared_;
    const std::vector<Branch>& branches_;
    const std::vector<double>& bounds_;
    OpenNodes& open_;
    const std::vector<Branch>& spaces_;
    std::vector<std::unique_ptr<BranchAndBound>> workers_;    // by branch
    std::vector<std::unique_ptr<BranchAndBound>> all_orders_; // by space
    std::size_t made_ = 0;
};

// Returns the least bound of what was left when the time was over.
double run_branch_and_bound(SearchState& shared, const std::vector<Branch>& branches,
                            const std::vector<Branch>& spaces, const std::vector<double>& bounds,
                            std::vector<Start> starts, int threads) {
    OpenNodes open(std::move(starts));
    std::mutex telling;
    std::size_t done = 0;
    in_parallel(threads, static_cast<std::size_t>(threads), [&](std::size_t /*thread*/) {
        try {
            Worker worker(shared, branches, spaces, bounds, open);
            while (worker.work()) {
                const std::lock_guard lock(telling);
                tell(shared, open, ++done);
            }
        } catch (...) {
            open.end();
            throw;
        }
    });
    return open.left();
}

// The mapping as it is placed on the axes, if it is better.
void judge(const Task& task, const Mapping& mapping, std::optional<SearchResult>& best) {
    auto cost = cost_of(task.problem, task.machine, mapping, task.counting);
    if (!cost) {
        return;
    }
    SearchResult result;
    result.latency = timed(task, mapping, *cost);
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
                          const Effort& effort, const ProgressCallback& progress,
                          const Below* below) {
    const int threads = std::max(1, options.threads);
    SearchState shared{task, spaces, effort, progress, below};
    if (below != nullptr) {
        shared.best = below->cutoff();
    }
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
    std::vector<double> bounds;
    const std::vector<Branch> branches = branches_of(shared, threads, bounds);
    const std::vector<Branch> spaces_left = spaces_of(shared, branches, bounds);
    std::vector<Start> starts = starts_of(shared, branches, spaces_left, bounds);
    const double left =
        run_branch_and_bound(shared, branches, spaces_left, bounds, std::move(starts), threads);
    shared.outcome.complete = !shared.over;
    shared.outcome.lower_bound = std::min(
        {shared.best * (1.0 - kSlack), shared.outcome.left_out, shared.over ? left : kNoValue});
    shared.outcome.from_start = shared.best_job == kKnown;
    shared.outcome.best = std::move(shared.found);
    return std::move(shared.outcome);
}

} // namespace eyeroof::mapper
