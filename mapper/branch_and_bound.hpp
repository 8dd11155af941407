// Branch and bound through the trees of one branch: nodes in the order of decisions, bounded and
// left by rule.
#pragma once

#include "mapper/effort.hpp"
#include "mapper/exact.hpp"
#include "mapper/lower_bounds.hpp"
#include "mapper/operand_reuse.hpp"

#include <atomic>
#include <deque>
#include <limits>
#include <mutex>

namespace eyeroof::mapper {

inline constexpr double kSlack = 1e-10; // relative; rounding of products of doubles
inline constexpr double kNoValue = std::numeric_limits<double>::infinity();

// The order in which searches count, on any thread: by the bound of where a search begins,
// then by the number of its start and of the node below that.
struct Job {
    double bound = 0.0;
    std::uint32_t start = 0;
    std::uint32_t node = 0;

    auto operator<=>(const Job&) const = default;
};
inline constexpr Job kNoJob = {kNoValue, std::numeric_limits<std::uint32_t>::max(),
                               std::numeric_limits<std::uint32_t>::max()};
inline constexpr Job kKnown = {-kNoValue, 0, 0}; // what was known before comes first

// Why nodes were left.
enum Rule : std::size_t {
    kFanout,
    kAxes,
    kStorage,
    kUtilization,
    kWorkload,
    kDataflow,
    kUnits,
    kSteps,
    kBandwidth,
    kRamps,
    kOrders,
    kDominated,
    kBeaten,
    kRules
};

struct Counts {
    std::uint64_t nodes = 0;
    std::array<std::uint64_t, kRules> pruned{};
};

// One choice of kept operands and of the operand that rests in each block, or all of the latter.
struct Branch {
    std::size_t space = 0;
    std::optional<std::size_t> family = {};
    std::array<double, kMaxLevels> lower_bounds = kNoLowerBounds;
};

inline constexpr std::size_t kFirstGroup = 2; // that decisions begin with: K
inline constexpr std::array<std::size_t, kGroups> kGroupOrder = {
    kFirstGroup, 3, 4, 5, 0, 1}; // K C (P,R) (Q,S) N G

using Path = std::array<std::uint32_t, kGroups>; // a node of each group's tree

struct Candidate {
    double bound = 0.0;
    std::uint32_t node = 0;
};

// Where a search begins: a node of the first group (or all of them), one with all trips in space
// decided and the lower bounds found there, or one with those in time of the outermost level, too.
struct Start {
    std::size_t branch = 0;
    double bound = 0.0;
    Path at{};
    std::size_t step = 1; // decisions taken
    std::uint32_t number = 0;
    std::uint32_t node = 0; // number of the node below the start of this number
    bool few_lanes = false;
    std::array<double, kMaxLevels> lower_bounds = kNoLowerBounds;
    double ramp = 0.0; // cycles to drain the array, at least (of all orders: the hops alone)

    bool spread() const { return step >= kGroups; } // all trips in space are decided
    Job key() const { return {bound, number, node}; }
};

// What the workers of a search share.
struct SearchState {
    const Task& task;
    const std::vector<Space>& spaces;
    const Effort& effort;
    const ProgressCallback& progress;
    const Below* below = nullptr;        // all mappings below a value are asked for, not the best
    std::vector<Estimator> estimators{}; // of each space
    std::vector<LowerBoundTables> tables{}; // of each space
    std::deque<LowerBoundCache> memories{}; // of each space
    std::atomic<double> best{kNoValue};
    std::atomic<std::uint64_t> offers{0}; // that changed best or best_job
    std::atomic<bool> over{false};
    std::mutex mutex{};
    Job best_job = kNoJob;               // under mutex
    std::optional<SearchResult> found{}; // under mutex
    ExactOutcome outcome{};              // under mutex

    // A mapping of an earlier job replaces one of equal value.
    void offer(const Job& job, SearchResult real, std::uint64_t nodes);
    // Not all ways to place a mapping of at least this value were looked at.
    void leave_out(double at_least);
    void add(const Counts& counts);
};

class BranchAndBound {
  public:
    BranchAndBound(SearchState& shared, const Branch& branch);

    // The bound of the branch without lower bounds; endless when nothing fits.
    double root_bound();
    // Lower bounds of the branch, one by one until its bound is too high; false then.
    bool find_lower_bounds(std::array<double, kMaxLevels>& lower_bounds);
    // The nodes of the first group.
    std::vector<Candidate> roots();
    // Collects the nodes below one of all orders together at which the trips in space of one more
    // group are decided.
    void open_group(const Start& node, std::vector<Start>& below);
    // Adds to `starts` what such a node, of all orders together, is in this branch, if anything.
    void take_up(std::size_t branch, const Start& node, std::vector<Start>& starts);
    // Collects the nodes below a start at which the next level is decided; false, and only half
    // done, when there are more than `most` of them or the time is over.
    bool refine(const Start& start, std::size_t most, std::vector<Start>& below);
    // Searches below a start, no more than about so many nodes; returns the least bound of what was
    // left.
    double run(const Start& start, std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

    Counts counts;

  private:
    double cut();
    void begin(const Job& job);
    void go_below(const Start& start);
    bool stopped();
    void count(Rule rule) { ++counts.pruned[rule]; }
    void count_limit();
    bool fits();
    const std::vector<Candidate>& children(std::size_t step, double parent_bound);
    Factors6 rows() const;
    bool load();
    void look(std::size_t step, double parent_bound, std::size_t height, std::size_t range);
    double bound_of(const double* row, Known known);
    void decide_others(std::size_t step, std::size_t group);
    double steps_left(const double* row) const;
    bool few_lanes() const;
    std::uint16_t anchored_levels() const;
    bool leans_on_nothing() const;
    Known known(std::size_t step) const;
    Path any_chains() const;
    void descend(std::size_t step, double bound);
    bool only_child(std::size_t step);
    void branch_out(std::size_t step, double bound);
    void finish_level(std::size_t step, double bound);
    void go_on(std::size_t step, double bound);
    void finish_space(double bound, double relaxed);
    void collect(std::size_t step, double bound);
    bool placed();
    bool has_lower_bound(std::size_t level) const;
    void raise_lower_bounds(double& relaxed);
    void settle();
    void visit();
    void visit_reuses(Leaf& leaf);
    void offer(const Leaf& leaf, double at_least);

    SearchState& shared_;
    const Space& space_;
    std::size_t index_;
    Job job_ = kKnown;
    bool later_ = false;     // … than the best so far, …
    std::uint64_t seen_ = 0; // … after so many offers
    std::uint64_t most_nodes_ = 0;
    std::size_t target_ = 0; // decisions after which nodes are collected
    std::size_t inner_ = 0;  // levels from here on lie inside the array
    bool few_lanes_ = false;
    std::uint16_t anchored_ = 0; // levels where a loop may be an anchor, as bits
    bool ramps_ = false;         // does step 7 count?
    bool any_order_ = false;
    std::optional<double> hops_ = {}; // of the node that is taken up: it is known to fit the axes
    std::uint64_t visits_ = 0;
    std::uint64_t spent_ = 0; // of counts.nodes: those that the effort knows of
    double left_ = kNoValue;
    Estimator estimator_;
    std::optional<LowerBoundFinder> finder_;
    std::optional<OperandReuse> reuse_; // where step 7 counts
    std::vector<double> product_;
    std::vector<double> others_;
    std::array<double, kMaxLevels> decided_{}; // trips in space of the other groups, if decided
    double macs_ = 0.0;
    std::array<std::vector<Candidate>, kGroups*(kMaxLevels + 2)> candidates_; // by step
    std::array<double, kMaxLevels> root_lower_bounds_ = kNoLowerBounds;
    double root_ramp_ = 0.0;
    Path at_{};
    // While nodes are collected:
    std::vector<Start>* starts_ = nullptr;
    std::size_t most_ = 0;
    std::size_t branch_ = 0;
};

} // namespace eyeroof::mapper
