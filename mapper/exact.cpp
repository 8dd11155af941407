#include "mapper/exact.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>

// Order of decisions: the trips in space of every group, then their trips in time level by level
// from the innermost outwards. A node fixes, for each group, a node of its tree; the products of
// the trees' columns bound every mapping below it, and a node is left when
//   fit      its smallest tiles overflow a store, or its trips in space a fan-out;
//   axes     its trips in space cannot be put on the axes;
//   bound    its bound, each operand at its best order, is not below the best value found;
//   order    the same with one order of loops for all operands (asked once per level).
// The proof: every mapping lies below some node, bounds never exceed the value of a mapping below,
// so when no node is left no mapping is better than the best found, up to kSlack.

namespace eyeroof::mapper {

using namespace model;
using Known = Estimator::Known;

namespace {

constexpr double kSlack = 1e-10; // relative; rounding of products of doubles
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::array<std::size_t, kGroups> kGroupOrder = {2, 3, 4, 5, 0, 1}; // K C (P,R) (Q,S) N G

class Clock {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Shared {
    const Task& task;
    const SearchOptions& options;
    std::stop_token stop;
    const ProgressCallback& progress;
    Clock clock;
    std::atomic<double> best{kNone};
    std::atomic<bool> over{false};
    std::mutex mutex;
    std::optional<SearchResult> found; // under mutex
    ExactOutcome outcome;              // under mutex
};

struct Counts {
    std::uint64_t nodes = 0;
    std::uint64_t fit = 0;
    std::uint64_t axes = 0;
    std::uint64_t bound = 0;
    std::uint64_t order = 0;
    std::uint64_t dominated = 0;
};

struct Candidate {
    double bound = 0.0;
    std::uint32_t node = 0;
};

using Path = std::array<std::uint32_t, kGroups>;

class Worker {
  public:
    Worker(Shared& shared, const Space& space, std::size_t space_index, bool first_only)
        : shared_(shared), space_(space), index_(space_index), first_only_(first_only),
          estimator_(space), product_(space.columns) {
        estimator_.set_floors(space.floors);
    }

    // Searches below the root; returns the least bound of what was left because time ran out.
    double run(const std::vector<Candidate>& roots) {
        for (const Candidate& root : roots) {
            at_.fill(0);
            at_[kGroupOrder[0]] = root.node;
            if (root.bound > cut()) {
                ++counts.bound;
            } else {
                descend(1, root.bound);
            }
            if (done_) {
                break;
            }
        }
        return left_;
    }

    std::vector<Candidate> roots() {
        at_.fill(0);
        return children(0, 0.0);
    }

    Counts counts;

  private:
    double cut() const {
        const double best = shared_.best.load(std::memory_order_relaxed);
        return first_only_ ? best * (1.0 + kSlack) : best * (1.0 - kSlack);
    }

    bool stopped() {
        if ((counts.nodes & 255U) == 0) {
            const double limit = shared_.options.time_limit_s;
            if (shared_.stop.stop_requested() || (limit > 0 && shared_.clock.seconds() > limit)) {
                shared_.over = true;
            }
        }
        return shared_.over.load(std::memory_order_relaxed);
    }

    // Children of the group that decision number `step` is about, best bound first.
    std::vector<Candidate> children(std::size_t step, double parent_bound) {
        const std::size_t g = kGroupOrder[step % kGroups];
        const Group& group = space_.groups[g];
        const Node& node = group.nodes[at_[g]];
        std::vector<Candidate> result;
        result.reserve(node.children);
        const std::uint32_t before = at_[g];
        const bool skip = step >= kGroups && few_lanes_;
        for (std::uint32_t c = node.first_child; c < node.first_child + node.children; ++c) {
            if (skip && group.nodes[c].needless) {
                ++counts.dominated;
                continue;
            }
            at_[g] = c;
            const double bound = bound_of(step);
            if (bound < kNone && bound <= cut()) {
                result.push_back({std::max(bound, parent_bound), c});
            }
        }
        at_[g] = before;
        std::stable_sort(result.begin(), result.end(),
                         [](const Candidate& a, const Candidate& b) { return a.bound < b.bound; });
        return result;
    }

    // Products of the columns at the current nodes; false, and only half done, when nothing fits.
    bool load() {
        std::array<const double*, kGroups> factors{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            factors[g] = space_.column(g, at_[g]);
        }
        estimator_.multiply_tiles(factors, product_.data());
        if (!estimator_.fits(product_.data())) {
            return false;
        }
        estimator_.multiply_rest(factors, product_.data());
        return true;
    }

    // With all trips in space decided: does returning fewer sums never cost more?
    bool few_lanes() const {
        double lanes = 1.0;
        double cost = 0.0;
        double saving = 0.0;
        for (const Link& link : space_.links) {
            if (link.produced && link.child < space_.keeps.size()) {
                const SumsPrice price = sums_price(space_, link);
                lanes *= product_[link.lanes];
                cost = cost == 0.0 ? price.cost : std::min(cost, price.cost);
                saving = std::max(saving, price.saving);
            }
        }
        return cost >= saving * (lanes - 1.0);
    }

    Known known(std::size_t step) const {
        const std::size_t last = space_.depth * kGroups - 1;
        return step >= last ? Known::all : step + 1 >= kGroups ? Known::space : Known::little;
    }

    double bound_of(std::size_t step) {
        ++counts.nodes;
        if (!load()) {
            ++counts.fit;
            return kNone;
        }
        const double bound = estimator_.relaxed(product_.data(), known(step));
        if (bound > cut()) {
            ++counts.bound;
            return kNone;
        }
        if (step + 1 == kGroups && !axes_fit()) {
            ++counts.axes;
            return kNone;
        }
        return bound;
    }

    bool axes_fit() {
        for (std::size_t i = 0; i < space_.keeps.size(); ++i) {
            Extents trips = kOnes;
            for (std::size_t g = 0; g < kGroups; ++g) {
                const Chain& chain = any_chain(g);
                for (std::size_t n = 0; n < space_.groups[g].dims.size(); ++n) {
                    trips[index(space_.groups[g].dims[n])] =
                        (n == 0 ? chain.first : chain.tap).spatial[i];
                }
            }
            if (!pack_axes(shared_.task, i, trips, nullptr)) {
                return false;
            }
        }
        return true;
    }
    const Chain& any_chain(std::size_t g) const {
        const Group& group = space_.groups[g];
        std::uint32_t n = at_[g];
        while (group.nodes[n].children > 0) {
            n = group.nodes[n].first_child;
        }
        return group.chains[group.nodes[n].chain];
    }

    void descend(std::size_t step, double bound) {
        if (done_ || stopped()) {
            left_ = std::min(left_, bound);
            return;
        }
        if (step % kGroups == 0) { // a level is decided
            load();
            if (step == kGroups) {
                few_lanes_ = few_lanes();
            }
            const double relaxed = estimator_.relaxed(product_.data(), known(step - 1));
            ++counts.nodes;
            if (step == space_.depth * kGroups) {
                visit();
                return;
            }
            if (relaxed > cut() || estimator_.order_bound(cut()) > cut()) {
                ++counts.order;
                return;
            }
            bound = std::max(bound, relaxed);
        }
        const std::size_t g = kGroupOrder[step % kGroups];
        const std::uint32_t before = at_[g];
        for (const Candidate& child : children(step, bound)) {
            if (child.bound > cut()) {
                ++counts.bound;
                continue;
            }
            at_[g] = child.node;
            descend(step + 1, child.bound);
        }
        at_[g] = before;
    }

    void visit() {
        Leaf leaf{index_, {}, {}};
        for (std::size_t g = 0; g < kGroups; ++g) {
            leaf.chains[g] = space_.groups[g].nodes[at_[g]].chain;
        }
        const auto good = estimator_.good_orders(product_.data(), cut());
        counts.order += good.empty() ? 1 : 0;
        for (const auto& [value, c] : good) {
            if (value <= cut() && !done_) {
                leaf.orders = estimator_.combinations()[c];
                offer(leaf);
            }
        }
    }

    void offer(const Leaf& leaf) {
        auto real = realise(shared_.task, space_, leaf);
        if (!real) {
            return;
        }
        const double value = real->certificate.value;
        std::lock_guard lock(shared_.mutex);
        const double best = shared_.best.load();
        if (first_only_ ? value <= best * (1.0 + kSlack) : value < best) {
            shared_.best = std::min(best, value);
            if (!first_only_) {
                shared_.outcome.history.push_back({shared_.clock.seconds(), counts.nodes, value});
                if (shared_.progress) {
                    shared_.progress({0.0, "searching mappings", value, -1.0});
                }
            }
            shared_.found = std::move(real);
            done_ = first_only_;
        }
    }

    Shared& shared_;
    const Space& space_;
    std::size_t index_;
    bool first_only_;
    bool done_ = false;
    bool few_lanes_ = false;
    double left_ = kNone;
    Estimator estimator_;
    std::vector<double> product_;
    Path at_{};
};

struct Job {
    std::size_t space = 0;
    Candidate root;
};

void add_counts(Shared& shared, const Counts& counts) {
    std::lock_guard lock(shared.mutex);
    auto& outcome = shared.outcome;
    outcome.nodes += counts.nodes;
    outcome.pruned["capacity or fan-out"] += counts.fit;
    outcome.pruned["axes"] += counts.axes;
    outcome.pruned["dominated"] += counts.dominated;
    outcome.pruned["bound"] += counts.bound;
    outcome.pruned["bound with one order"] += counts.order;
}

std::vector<Job> jobs_of(Shared& shared, const std::vector<Space>& spaces) {
    std::vector<Job> jobs;
    for (std::size_t s = 0; s < spaces.size(); ++s) {
        Worker worker(shared, spaces[s], s, false);
        for (const Candidate& root : worker.roots()) {
            jobs.push_back({s, root});
        }
        add_counts(shared, worker.counts);
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.root.bound < b.root.bound; });
    return jobs;
}

// All jobs, on as many threads as asked for; the least bound of what was left.
double run_jobs(Shared& shared, const std::vector<Space>& spaces, const std::vector<Job>& jobs,
                int threads) {
    std::atomic<std::size_t> next{0};
    std::vector<double> left(static_cast<std::size_t>(threads), kNone);
    const auto work = [&](std::size_t me) {
        for (std::size_t j = next++; j < jobs.size(); j = next++) {
            Worker worker(shared, spaces[jobs[j].space], jobs[j].space, false);
            left[me] = std::min(left[me], worker.run({jobs[j].root}));
            add_counts(shared, worker.counts);
        }
    };
    std::vector<std::thread> pool;
    for (std::size_t t = 1; t < left.size(); ++t) {
        pool.emplace_back(work, t);
    }
    work(0);
    for (std::thread& thread : pool) {
        thread.join();
    }
    return *std::min_element(left.begin(), left.end());
}

// With the best value known, the first mapping in a fixed order that has it: the same for any
// number of threads.
void settle(Shared& shared, const std::vector<Space>& spaces, const std::vector<Job>& jobs) {
    for (const Job& job : jobs) {
        Worker worker(shared, spaces[job.space], job.space, true);
        const double before = shared.best;
        std::optional<SearchResult> kept = std::move(shared.found);
        shared.found.reset();
        worker.run({job.root});
        add_counts(shared, worker.counts);
        if (shared.found) {
            shared.best = before;
            return;
        }
        shared.found = std::move(kept);
    }
}

} // namespace

std::optional<SearchResult> realise(const Task& task, const Space& space, const Leaf& leaf) {
    auto mapping = mapping_of(space, leaf.chains, leaf.orders);
    if (!mapping) {
        return std::nullopt;
    }
    auto cost = cost_of(task.problem, task.machine, *mapping, task.counting);
    if (!cost || !task.constraints.allow(cost->energy_pj, cost->cycles)) {
        return std::nullopt;
    }
    SearchResult result;
    result.mapping = std::move(*mapping);
    result.cost = std::move(*cost);
    result.certificate.value = task.objective.value(result.cost.energy_pj, result.cost.cycles);
    return result;
}

ExactOutcome search_exact(const Task& task, const std::vector<Space>& spaces,
                          const SearchOptions& options, std::stop_token stop,
                          const ProgressCallback& progress) {
    Shared shared{task, options, std::move(stop), progress, {}, {kNone}, {false}, {}, {}, {}};
    const std::vector<Job> jobs = jobs_of(shared, spaces);
    const double left = run_jobs(shared, spaces, jobs, std::max(1, options.threads));
    shared.outcome.complete = !shared.over;
    const double best = shared.best;
    if (shared.outcome.complete && shared.found) {
        settle(shared, spaces, jobs);
    }
    double bound = best * (1.0 - kSlack);
    if (!shared.outcome.complete) {
        bound = std::min(bound, left);
        for (const Job& job : jobs) {
            bound = std::min(bound, std::max(job.root.bound, 0.0)); // not all were begun
        }
    }
    shared.outcome.lower_bound = bound;
    shared.outcome.best = std::move(shared.found);
    return std::move(shared.outcome);
}

} // namespace eyeroof::mapper
