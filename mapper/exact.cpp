#include "mapper/exact.hpp"

#include "mapper/floors.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

// Order of decisions: what is kept and which operand rests in each block (a branch), then the trips
// in space of every group, then their trips in time level by level from the outermost inwards. A
// node fixes, for each group, a node of its tree; the products of the trees' columns bound every
// mapping below it, and a node is left when
//   B4 fan-out, axes   its trips in space exceed a fan-out or cannot be put on the axes;
//   B5 storage         its smallest tiles overflow a store;
//   B3 units           its least energy is too much even with all units at work all the time;
//   B4 steps           … with its trips in time;
//   B6 bandwidth       … with the cycles that its words need;
//   orders             with one order of loops for all operands its energy is too much;
//   dominated          another node is as good in every column.
// The proof: every mapping lies below some node, bounds never exceed the value of a mapping below,
// so when no node is left no mapping is better than the best found, up to kSlack.
//
// The answer is the first mapping with the best value in the order of jobs and of the depth-first
// walk in each, whatever the number of threads: a mapping of an earlier job replaces one of equal
// value, and an earlier job goes on as long as it may find one.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr double kSlack = 1e-10; // relative; rounding of products of doubles
constexpr double kNone = std::numeric_limits<double>::infinity();
constexpr std::array<std::size_t, kGroups> kGroupOrder = {2, 3, 4, 5, 0, 1}; // K C (P,R) (Q,S) N G
constexpr std::uint64_t kRootFloorNodes = 60000; // choices looked at for a floor of a branch …
constexpr std::uint64_t kNodeFloorNodes = 2000; // … and of a node with its trips in space decided
constexpr std::uint32_t kNoJob = std::numeric_limits<std::uint32_t>::max();

using Path = std::array<std::uint32_t, kGroups>;

class Clock {
  public:
    double seconds() const {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

  private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Why nodes were left.
enum Rule : std::size_t {
    kFanout,
    kAxes,
    kStorage,
    kUtilization,
    kUnits,
    kSteps,
    kBandwidth,
    kOrders,
    kDominated,
    kBeaten,
    kRules
};
constexpr std::array<const char*, kRules> kRuleNames = {
    "B4 fan-out", "B4 axes",      "B5 storage", "least utilization", "B3 units",
    "B4 steps",   "B6 bandwidth", "orders",     "dominated",         "beaten meanwhile"};

struct Counts {
    std::uint64_t nodes = 0;
    std::array<std::uint64_t, kRules> pruned{};
};

// One choice of kept operands and of the operand that rests in each block.
struct Branch {
    std::size_t space = 0;
    std::size_t family = 0;
    std::array<double, kMaxLevels> floors{};
};

struct Candidate {
    double bound = 0.0;
    std::uint32_t node = 0;
};

struct Job {
    std::size_t branch = 0;
    Candidate root;
    double left = 0.0; // least bound of what is not searched
};

struct Shared {
    const Task& task;
    const std::vector<Space>& spaces;
    const SearchOptions& options;
    std::stop_token stop;
    const ProgressCallback& progress;
    std::vector<Estimator> estimators; // of each space
    std::vector<FloorTables> tables;   // of each space
    Clock clock;
    std::atomic<double> best{kNone};
    std::atomic<std::uint32_t> best_job{kNoJob};
    std::atomic<bool> over{false};
    std::mutex mutex;
    std::optional<SearchResult> found; // under mutex
    ExactOutcome outcome;              // under mutex

    void offer(std::uint32_t job, SearchResult real, std::uint64_t nodes) {
        const double value = real.certificate.value;
        std::lock_guard lock(mutex);
        const double now = best.load();
        const bool better = value < now * (1.0 - kSlack);
        if (!better && (value > now * (1.0 + kSlack) || job >= best_job.load())) {
            return;
        }
        // A reader takes the value first: in between it must not see too early a job.
        best_job = std::max(best_job.load(), job);
        best = std::min(now, value);
        best_job = job;
        found = std::move(real);
        if (better) {
            outcome.history.push_back({clock.seconds(), outcome.nodes + nodes, value});
        }
    }
};

class Worker {
  public:
    Worker(Shared& shared, const Branch& branch)
        : shared_(shared), space_(shared.spaces[branch.space]), index_(branch.space),
          estimator_(shared.estimators[branch.space]), product_(space_.columns),
          others_(space_.columns), root_floors_(branch.floors) {
        estimator_.restrict_to(estimator_.families()[branch.family]);
        estimator_.set_floors(branch.floors);
        finder_.emplace(shared.tables[branch.space], estimator_);
        std::size_t fanned = 0;
        while (fanned < space_.keeps.size() && shared.task.machine.levels[fanned].fanout.empty()) {
            ++fanned;
        }
        inner_ = fanned + 1;
    }

    // Floors of the branch, one by one until its bound is too high; false then.
    bool find_floors(std::array<double, kMaxLevels>& floors) {
        at_.fill(0);
        if (!load()) {
            return false;
        }
        double bound = estimator_.relaxed(product_.data(), Known::little, cut());
        for (std::size_t i = 1; i < space_.keeps.size() && bound <= cut(); ++i) {
            if (finder_->has_floor(i)) {
                floors[i] = finder_->floor(i, at_, kRootFloorNodes);
                estimator_.set_floors(floors);
                bound = estimator_.relaxed(product_.data(), Known::little, cut());
            }
        }
        root_floors_ = floors;
        counts.nodes += finder_->nodes();
        if (bound > cut()) {
            count_limit();
            return false;
        }
        return true;
    }

    std::vector<Candidate> roots() {
        at_.fill(0);
        return children(0, 0.0);
    }

    // Searches below a root; returns the least bound of what was left because time ran out.
    double run(std::uint32_t job, const Candidate& root) {
        job_ = job;
        left_ = kNone;
        at_.fill(0);
        at_[kGroupOrder[0]] = root.node;
        descend(1, root.bound);
        return left_;
    }

    Counts counts;

  private:
    double cut() const {
        const double best = shared_.best.load();
        const bool later = job_ >= shared_.best_job.load();
        return later ? best * (1.0 - kSlack) : best * (1.0 + kSlack);
    }

    bool stopped() {
        if ((++visits_ & 255U) == 0) {
            const double limit = shared_.options.time_limit_s;
            if (shared_.stop.stop_requested() || (limit > 0 && shared_.clock.seconds() > limit)) {
                shared_.over = true;
            }
        }
        return shared_.over.load(std::memory_order_relaxed);
    }

    void count(Rule rule) { ++counts.pruned[rule]; }
    void count_limit() {
        using Limit = Estimator::Limit;
        const Limit limit = estimator_.limit();
        count(limit == Limit::units ? kUnits : limit == Limit::steps ? kSteps : kBandwidth);
    }
    bool fits() {
        using Misfit = Estimator::Misfit;
        switch (estimator_.misfit(product_.data())) {
        case Misfit::none:
            return true;
        case Misfit::fanout:
            count(kFanout);
            break;
        case Misfit::capacity:
            count(kStorage);
            break;
        case Misfit::utilization:
            count(kUtilization);
            break;
        }
        return false;
    }

    // Children of the group that decision number `step` is about, best bound first.
    const std::vector<Candidate>& children(std::size_t step, double parent_bound) {
        const std::size_t g = kGroupOrder[step % kGroups];
        const Group& group = space_.groups[g];
        const Node& node = group.nodes[at_[g]];
        std::vector<Candidate>& result = candidates_[step];
        result.clear();
        estimator_.multiply_others(rows(), g, others_.data());
        const bool skip = step >= kGroups && few_lanes_;
        for (std::uint32_t c = node.first_child; c < node.first_child + node.children; ++c) {
            if (skip && group.nodes[c].needless) {
                count(kDominated);
                continue;
            }
            const double bound = bound_of(step, space_.column(g, c));
            if (bound < kNone) {
                result.push_back({std::max(bound, parent_bound), c});
            }
        }
        std::sort(result.begin(), result.end(), [](const Candidate& a, const Candidate& b) {
            return a.bound < b.bound || (a.bound == b.bound && a.node < b.node);
        });
        return result;
    }

    Factors6 rows() const {
        Factors6 rows{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            rows[g] = space_.column(g, at_[g]);
        }
        return rows;
    }
    // Products of the columns at the current nodes; false, and only half done, when nothing fits.
    bool load() {
        estimator_.multiply_tiles(rows(), product_.data());
        if (!fits()) {
            return false;
        }
        estimator_.multiply_rest(rows(), product_.data());
        return true;
    }

    double bound_of(std::size_t step, const double* row) {
        ++counts.nodes;
        estimator_.complete_tiles(others_.data(), row, product_.data());
        if (!fits()) {
            return kNone;
        }
        estimator_.complete_rest(others_.data(), row, product_.data());
        const double bound = estimator_.relaxed(product_.data(), known(step), cut());
        if (bound > cut()) {
            count_limit();
            return kNone;
        }
        return bound;
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

    // A chain below the node of each group: all have the same trips in space, once these are
    // decided.
    Path any_chains() const {
        Path chains{};
        for (std::size_t g = 0; g < kGroups; ++g) {
            std::uint32_t n = at_[g];
            while (space_.groups[g].nodes[n].children > 0) {
                n = space_.groups[g].nodes[n].first_child;
            }
            chains[g] = space_.groups[g].nodes[n].chain;
        }
        return chains;
    }

    void descend(std::size_t step, double bound) {
        if (stopped()) {
            left_ = std::min(left_, bound);
            return;
        }
        Path before = at_;
        // Where there is but one child nothing is decided.
        while (step % kGroups != 0 && only_child(step)) {
            ++step;
        }
        if (step % kGroups != 0) {
            branch_out(step, bound);
        } else {
            finish_level(step, bound);
        }
        at_ = before;
    }
    bool only_child(std::size_t step) {
        const std::size_t g = kGroupOrder[step % kGroups];
        const Node& node = space_.groups[g].nodes[at_[g]];
        if (node.children != 1) {
            return false;
        }
        at_[g] = node.first_child;
        return true;
    }

    void branch_out(std::size_t step, double bound) {
        const std::size_t g = kGroupOrder[step % kGroups];
        for (const Candidate& child : children(step, bound)) {
            if (child.bound > cut()) {
                count(kBeaten);
                continue;
            }
            at_[g] = child.node;
            descend(step + 1, child.bound);
        }
    }

    // A level's trips are decided for all groups.
    void finish_level(std::size_t step, double bound) {
        ++counts.nodes;
        if (!load()) {
            return;
        }
        if (step == kGroups && !axes_fit(space_, any_chains())) {
            count(kAxes);
            return;
        }
        if (step == kGroups) {
            few_lanes_ = few_lanes();
        }
        double relaxed = estimator_.relaxed(product_.data(), known(step - 1), cut());
        if (relaxed > cut()) {
            count_limit();
            return;
        }
        if (step == space_.depth * kGroups) {
            visit();
            return;
        }
        if (estimator_.order_bound(product_.data(), cut()) > cut()) {
            count(kOrders);
            return;
        }
        const bool floored = step == kGroups && raise_floors(relaxed);
        if (relaxed <= cut()) {
            if (only_child(step)) {
                descend(step + 1, std::max(bound, relaxed));
            } else {
                branch_out(step, std::max(bound, relaxed));
            }
        } else {
            count_limit();
        }
        if (floored) {
            estimator_.set_floors(root_floors_);
        }
    }

    // With the trips in space decided the levels inside the array have higher floors.
    bool raise_floors(double& relaxed) {
        auto floors = root_floors_;
        const std::vector<double> product = product_;
        for (std::size_t i = inner_; i < space_.keeps.size() && relaxed <= cut(); ++i) {
            if (finder_->has_floor(i)) {
                const std::uint64_t before = finder_->nodes();
                floors[i] = std::max(floors[i], finder_->floor(i, at_, kNodeFloorNodes));
                counts.nodes += finder_->nodes() - before;
                estimator_.set_floors(floors);
                relaxed = estimator_.relaxed(product.data(), Known::space, cut());
            }
        }
        return true;
    }

    void visit() {
        Leaf leaf{index_, {}, {}};
        for (std::size_t g = 0; g < kGroups; ++g) {
            leaf.chains[g] = space_.groups[g].nodes[at_[g]].chain;
        }
        const auto good = estimator_.good_orders(product_.data(), cut());
        counts.pruned[kOrders] += good.empty() ? 1 : 0;
        for (const auto& [value, c] : good) {
            if (value <= cut()) {
                leaf.orders = estimator_.combinations()[c];
                auto real = realise(shared_.task, space_, leaf);
                if (real) {
                    shared_.offer(job_, *std::move(real), counts.nodes);
                }
            }
        }
    }

    Shared& shared_;
    const Space& space_;
    std::size_t index_;
    std::uint32_t job_ = 0;
    std::size_t inner_ = 0; // levels from here on lie inside the array
    bool few_lanes_ = false;
    std::uint64_t visits_ = 0;
    double left_ = kNone;
    Estimator estimator_;
    std::optional<FloorFinder> finder_;
    std::vector<double> product_;
    std::vector<double> others_;
    std::array<std::vector<Candidate>, kGroups*(kMaxLevels + 2)> candidates_; // by step
    std::array<double, kMaxLevels> root_floors_{};
    Path at_{};
};

void add_counts(Shared& shared, const Counts& counts) {
    std::lock_guard lock(shared.mutex);
    shared.outcome.nodes += counts.nodes;
    for (std::size_t r = 0; r < kRules; ++r) {
        shared.outcome.pruned[kRuleNames[r]] += counts.pruned[r];
    }
}

template <class Work> void in_parallel(int threads, Work work) {
    std::vector<std::thread> pool;
    for (int t = 1; t < threads; ++t) {
        pool.emplace_back(work);
    }
    work();
    for (std::thread& thread : pool) {
        thread.join();
    }
}

// The branches that may hold a better mapping than the one known, with their floors, and the jobs
// in them: one a node of the first group.
std::vector<Job> jobs_of(Shared& shared, std::vector<Branch>& branches, int threads) {
    for (std::size_t s = 0; s < shared.spaces.size(); ++s) {
        for (std::size_t f = 0; f < shared.estimators[s].families().size(); ++f) {
            branches.push_back({s, f, {}});
        }
    }
    std::vector<std::vector<Candidate>> roots(branches.size());
    std::atomic<std::size_t> next{0};
    in_parallel(threads, [&] {
        for (std::size_t b = next++; b < branches.size(); b = next++) {
            Worker worker(shared, branches[b]);
            if (worker.find_floors(branches[b].floors)) {
                roots[b] = worker.roots();
            }
            add_counts(shared, worker.counts);
        }
    });
    std::vector<Job> jobs;
    for (std::size_t b = 0; b < branches.size(); ++b) {
        for (const Candidate& root : roots[b]) {
            jobs.push_back({b, root, root.bound});
        }
    }
    std::stable_sort(jobs.begin(), jobs.end(),
                     [](const Job& a, const Job& b) { return a.root.bound < b.root.bound; });
    return jobs;
}

void tell(const Shared& shared, const std::vector<Job>& jobs, std::size_t at) {
    const double best = shared.best.load();
    if (shared.progress) {
        const bool found = best < kNone;
        shared.progress({static_cast<double>(at) / static_cast<double>(jobs.size()),
                         "searching mappings", found ? best : 0.0,
                         found ? std::max(0.0, (best - jobs[at].root.bound) / best) : -1.0});
    }
}

void run_jobs(Shared& shared, const std::vector<Branch>& branches, std::vector<Job>& jobs,
              int threads) {
    std::atomic<std::size_t> next{0};
    std::mutex telling;
    in_parallel(threads, [&] {
        std::unique_ptr<Worker> worker; // of the last job's branch
        std::size_t branch = branches.size();
        for (std::size_t j = next++; j < jobs.size(); j = next++) {
            if (jobs[j].root.bound > shared.best.load() * (1.0 + kSlack)) {
                jobs[j].left = kNone;
                continue;
            }
            if (branch != jobs[j].branch) {
                branch = jobs[j].branch;
                worker = std::make_unique<Worker>(shared, branches[branch]);
            }
            jobs[j].left = worker->run(static_cast<std::uint32_t>(j), jobs[j].root);
            add_counts(shared, worker->counts);
            worker->counts = {};
            std::lock_guard lock(telling);
            tell(shared, jobs, j);
        }
    });
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
                          const SearchOptions& options, std::optional<SearchResult> known,
                          std::stop_token stop, const ProgressCallback& progress) {
    const int threads = std::max(1, options.threads);
    Shared shared{task, spaces,  options,  std::move(stop), progress, {}, {},
                  {},   {kNone}, {kNoJob}, {false},         {},       {}, {}};
    for (const Space& space : spaces) {
        shared.estimators.emplace_back(space);
        shared.tables.emplace_back(space);
    }
    std::atomic<std::size_t> next{0};
    in_parallel(threads, [&] {
        for (std::size_t s = next++; s < spaces.size(); s = next++) {
            shared.tables[s].fill();
        }
    });
    if (known) {
        shared.offer(kNoJob - 1, *std::move(known), 0);
    }
    std::vector<Branch> branches;
    std::vector<Job> jobs = jobs_of(shared, branches, threads);
    run_jobs(shared, branches, jobs, threads);
    shared.outcome.complete = !shared.over;
    double bound = shared.best * (1.0 - kSlack);
    for (const Job& job : jobs) {
        bound = std::min(bound, shared.over ? job.left : kNone);
    }
    shared.outcome.lower_bound = bound;
    shared.outcome.from_start = shared.best_job == kNoJob - 1;
    shared.outcome.best = std::move(shared.found);
    return std::move(shared.outcome);
}

} // namespace eyeroof::mapper
