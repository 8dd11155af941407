#include "mapper/branch_and_bound.hpp"

#include "mapper/reported.hpp"

#include <algorithm>
#include <cmath>

// Order of decisions: what is kept and which operand rests in each block (a branch), then the trips
// in space of every group, then their trips in time level by level from the outermost inwards. A
// node fixes, for each group, a node of its tree; the products of the trees' cost factors bound
// every mapping below it, and a node is left when
//   B4 fan-out, axes   its trips in space exceed a fan-out or cannot be put on the axes;
//   B5 storage         its smallest tiles overflow a store;
//   B1 workload        its least energy is too much even with all MACs at once;
//   B2 dataflow        … with what may lie on no axis one after the other;
//   B3 units           … with all PEs active all the time;
//   B4 steps           … with its trips in time;
//   B6 bandwidth       … with the cycles that its words need;
//   orders             with one order of loops for all operands its energy is too much;
//   dominated          another node is as good in every cost factor.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::uint64_t kNodeLowerBoundNodes =
    2000; // choices looked at for a lower bound of a node
} // namespace

BranchAndBound::BranchAndBound(SearchState& shared, const Branch& branch)
    : shared_(shared), space_(shared.spaces[branch.space]), index_(branch.space),
      estimator_(shared.estimators[branch.space]), product_(space_.cost_factors),
      others_(space_.cost_factors), root_lower_bounds_(branch.lower_bounds),
      root_ramp_(estimator_.ramp()) {
    any_order_ = !branch.family;
    if (branch.family) {
        estimator_.restrict_to(estimator_.orders().families()[*branch.family]);
    }
    estimator_.set_lower_bounds(branch.lower_bounds);
    finder_.emplace(shared.tables[branch.space], shared.memories[branch.space], estimator_);
    std::size_t fanned = 0;
    while (fanned < space_.keeps.size() && shared.task.machine.levels[fanned].fanout.empty()) {
        ++fanned;
    }
    inner_ = fanned + 1;
    ramps_ = ramps_matter(shared.task);
    macs_ = static_cast<double>(model::macs_of(shared.task.problem));
    if (ramps_) {
        reuse_.emplace(space_, estimator_);
    }
}

double BranchAndBound::cut() {
    const double best = shared_.best.load();
    const std::uint64_t offers = shared_.offers.load();
    if (offers != seen_) {
        const std::lock_guard lock(shared_.mutex);
        seen_ = shared_.offers.load();
        later_ = !(job_ < shared_.best_job);
    }
    return later_ ? best * (1.0 - kSlack) : best * (1.0 + kSlack);
}

// The caller of a search takes its counts and resets them.
void BranchAndBound::settle() {
    shared_.effort.spend(counts.nodes - std::min(spent_, counts.nodes));
    spent_ = counts.nodes;
}

bool BranchAndBound::stopped() {
    if ((++visits_ & 15U) == 0) {
        settle();
        shared_.over = shared_.over || shared_.effort.over();
    }
    return shared_.over.load(std::memory_order_relaxed) || counts.nodes > most_nodes_ ||
           (starts_ != nullptr && starts_->size() > most_);
}

void BranchAndBound::count_limit() {
    using Limit = Estimator::Limit;
    const Limit limit = estimator_.limit();
    count(limit == Limit::workload    ? kWorkload
          : limit == Limit::dataflow  ? kDataflow
          : limit == Limit::units     ? kUnits
          : limit == Limit::steps     ? kSteps
          : limit == Limit::bandwidth ? kBandwidth
                                      : kRamps);
}

bool BranchAndBound::fits() {
    using Misfit = Fits::Misfit;
    switch (estimator_.fits().misfit(product_.data())) {
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
const std::vector<Candidate>& BranchAndBound::children(std::size_t step, double parent_bound) {
    const std::size_t g = kGroupOrder[step % kGroups];
    std::vector<Candidate>& result = candidates_[step];
    result.clear();
    estimator_.products().multiply_others(rows(), g, others_.data());
    decide_others(step, g);
    std::size_t height = 0;
    std::size_t ranges = space_.groups[g].nodes[at_[g]].children;
    for (; ranges > kRange; ++height) {
        ranges = (ranges + kRange - 1) / kRange;
    }
    for (std::size_t r = 0; r < ranges; ++r) {
        look(step, parent_bound, height, r);
    }
    std::sort(result.begin(), result.end(), [](const Candidate& a, const Candidate& b) {
        return a.bound < b.bound || (a.bound == b.bound && a.node < b.node);
    });
    return result;
}

// Bounds a child (height 0), or a range of children and then what is in it.
void BranchAndBound::look(std::size_t step, double parent_bound, std::size_t height,
                          std::size_t range) {
    const std::size_t g = kGroupOrder[step % kGroups];
    const Group& group = space_.groups[g];
    const Node& node = group.nodes[at_[g]];
    if (height == 0) {
        const auto child = node.first_child + static_cast<std::uint32_t>(range);
        const Node& next = group.nodes[child];
        const bool needless = few_lanes_ && (next.needless || next.loops.leans_on_sums != 0);
        const bool loose = (next.loops.leans & static_cast<std::uint16_t>(~anchored_)) != 0;
        if (step >= kGroups && (needless || loose)) {
            count(kDominated);
            return;
        }
        const double* row = space_.cost_factor(g, child);
        estimator_.set_steps_left(step < kGroups ? steps_left(row) : 0.0);
        const double bound = bound_of(row, known(step));
        estimator_.set_steps_left(0.0);
        if (bound < kNoValue) {
            candidates_[step].push_back({std::max(bound, parent_bound), child});
        }
        return;
    }
    std::size_t row = node.ranges;
    std::size_t inside = node.children; // rows of the height below
    for (std::size_t h = 1; h < height; ++h) {
        inside = (inside + kRange - 1) / kRange;
        row += inside;
    }
    const Known open = step >= kGroups ? Known::space : Known::little;
    if (bound_of(space_.range(g, row + range), open) < kNoValue) {
        for (std::size_t r = range * kRange; r < std::min(inside, (range + 1) * kRange); ++r) {
            look(step, parent_bound, height - 1, r);
        }
    }
}

// The trips in space of the groups that are decided before this one.
void BranchAndBound::decide_others(std::size_t step, std::size_t group) {
    decided_.fill(1.0);
    for (std::size_t g = 0; g < kGroups && step < kGroups; ++g) {
        const bool open = g == group || at_[g] == 0;
        for (std::size_t i = 0; i < space_.keeps.size() && !open; ++i) {
            decided_[i] *= space_.cost_factor(g, at_[g])[space_.spatial[i]];
        }
    }
}

// Cycles of the units at least: what is decided leaves each level room for whole multiples only.
double BranchAndBound::steps_left(const double* row) const {
    double units = 1.0;
    for (std::size_t i = 0; i < space_.keeps.size(); ++i) {
        const double used = decided_[i] * row[space_.spatial[i]];
        units *= used * std::max(1.0, std::floor(estimator_.fits().fanout(i) / used));
    }
    return macs_ / units * (1.0 - 1e-12);
}

Factors6 BranchAndBound::rows() const {
    Factors6 rows{};
    for (std::size_t g = 0; g < kGroups; ++g) {
        rows[g] = space_.cost_factor(g, at_[g]);
    }
    return rows;
}

// Products of the cost factors at the current nodes; false, and only half done, when nothing fits.
bool BranchAndBound::load() {
    estimator_.products().multiply_tiles(rows(), product_.data());
    if (!fits()) {
        return false;
    }
    estimator_.products().multiply_rest(rows(), product_.data());
    return true;
}

double BranchAndBound::bound_of(const double* row, Known known) {
    ++counts.nodes;
    estimator_.products().complete_tiles(others_.data(), row, product_.data());
    if (!fits()) {
        return kNoValue;
    }
    estimator_.products().complete_rest(others_.data(), row, product_.data());
    const double bound = estimator_.relaxed(product_.data(), known, cut());
    if (bound > cut()) {
        count_limit();
        return kNoValue;
    }
    return bound;
}

// With all trips in space decided: does returning fewer sums never cost more?
bool BranchAndBound::few_lanes() const {
    double lanes = 1.0;
    double cost = 0.0;
    double saving = 0.0;
    for (const Link& link : space_.links) {
        if (link.produced && link.child < space_.keeps.size()) {
            const SumsPrice price = sums_price(shared_.task, link.operand, link.parent, link.child);
            lanes *= product_[link.lanes];
            cost = cost == 0.0 ? price.cost : std::min(cost, price.cost);
            saving = std::max(saving, price.saving);
        }
    }
    return cost >= saving * (lanes - 1.0);
}

// With all trips in space decided: the levels where some dimension may be an anchor, as bits.
std::uint16_t BranchAndBound::anchored_levels() const {
    const Path chains = any_chains();
    std::uint16_t levels = 1;
    for (std::size_t g = 0; g < kGroups; ++g) {
        const Group& group = space_.groups[g];
        for (std::size_t n = 0; n < group.dims.size(); ++n) {
            const Chain& chain = group.chains[chains[g]];
            const Split& split = n == 0 ? chain.first : chain.tap;
            for (std::size_t i = 1; i < space_.keeps.size(); ++i) {
                const std::uint8_t role = space_.roles.of(i, group.dims[n]);
                const bool own = (role & kOwnSpace) != 0 && split.spatial[i - 1] > 1;
                levels |= static_cast<std::uint16_t>((role & kAnchor) != 0 || own ? 1U << i : 0U);
            }
        }
    }
    return levels;
}

// Do the loops of a level that was just decided lean on an anchor that is not there?
bool BranchAndBound::leans_on_nothing() const {
    LoopMasks loops;
    for (std::size_t g = 0; g < kGroups; ++g) {
        loops |= space_.groups[g].nodes[at_[g]].loops;
    }
    return loops.without_anchor() != 0;
}

Known BranchAndBound::known(std::size_t step) const {
    const std::size_t last = space_.depth * kGroups - 1;
    return step >= last ? Known::all : step + 1 >= kGroups ? Known::space : Known::little;
}

// A chain below the node of each group: all have the same trips in space, once these are
// decided.
Path BranchAndBound::any_chains() const {
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

void BranchAndBound::descend(std::size_t step, double bound) {
    if (stopped()) {
        left_ = std::min(left_, bound);
        return;
    }
    const Path before = at_;
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

bool BranchAndBound::only_child(std::size_t step) {
    const std::size_t g = kGroupOrder[step % kGroups];
    const Node& node = space_.groups[g].nodes[at_[g]];
    if (node.children != 1) {
        return false;
    }
    at_[g] = node.first_child;
    return true;
}

void BranchAndBound::branch_out(std::size_t step, double bound) {
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
void BranchAndBound::finish_level(std::size_t step, double bound) {
    ++counts.nodes;
    if (!load()) {
        return;
    }
    if (step > kGroups && leans_on_nothing()) {
        count(kDominated);
        return;
    }
    if (step == kGroups && !placed()) {
        count(kAxes);
        return;
    }
    if (step == kGroups) {
        few_lanes_ = few_lanes();
        anchored_ = anchored_levels();
    }
    const double relaxed = estimator_.relaxed(product_.data(), known(step - 1), cut());
    if (relaxed > cut()) {
        count_limit();
        return;
    }
    if (step == kGroups && any_order_) {
        const double hops = ramps_ ? fewest_hops(shared_.task, space_, any_chains()).least : 0.0;
        starts_->push_back({branch_, std::max(bound, relaxed), at_, step});
        starts_->back().ramp = hops;
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
    if (step == kGroups) {
        finish_space(bound, relaxed);
    } else if (starts_ != nullptr && step == target_) {
        collect(step, std::max(bound, relaxed));
    } else {
        go_on(step, std::max(bound, relaxed));
    }
}

void BranchAndBound::collect(std::size_t step, double bound) {
    starts_->push_back({branch_, bound, at_, step, 0, 0, few_lanes_, estimator_.lower_bounds(),
                        estimator_.ramp()});
}

bool BranchAndBound::placed() {
    return hops_ || axes_fit(space_, any_chains());
}

void BranchAndBound::go_on(std::size_t step, double bound) {
    if (only_child(step)) {
        descend(step + 1, bound);
    } else {
        branch_out(step, bound);
    }
}

// With the trips in space decided the levels inside the array have higher lower bounds.
void BranchAndBound::finish_space(double bound, double relaxed) {
    if (ramps_) {
        estimator_.set_ramp(
            root_ramp_ + (hops_ ? *hops_ : fewest_hops(shared_.task, space_, any_chains()).least));
    }
    raise_lower_bounds(relaxed);
    bound = std::max(bound, relaxed);
    if (relaxed > cut()) {
        count_limit();
    } else if (starts_ != nullptr && target_ == kGroups) {
        collect(kGroups, bound);
    } else {
        go_on(kGroups, bound);
    }
    estimator_.set_lower_bounds(root_lower_bounds_);
    estimator_.set_ramp(root_ramp_);
}

// Lower bounds are energies: of no use where only the time counts.
bool BranchAndBound::has_lower_bound(std::size_t level) const {
    const Task& task = shared_.task;
    const bool matters = task.objective.energy_power > 0.0 || task.constraints.max_energy_pj;
    return matters && finder_->has_lower_bound(level);
}

void BranchAndBound::raise_lower_bounds(double& relaxed) {
    auto lower_bounds = root_lower_bounds_;
    const std::vector<double> product = product_;
    for (std::size_t i = inner_; i < space_.keeps.size() && relaxed <= cut(); ++i) {
        if (has_lower_bound(i)) {
            const std::uint64_t before = finder_->nodes();
            lower_bounds[i] =
                std::max(lower_bounds[i], finder_->lower_bound(i, at_, kNodeLowerBoundNodes));
            counts.nodes += finder_->nodes() - before;
            estimator_.set_lower_bounds(lower_bounds);
            relaxed = estimator_.relaxed(product.data(), Known::space, cut());
        }
    }
}

// Where searches begin: the roots of a branch with its lower bounds, nodes at which one more group
// or level is decided, and the search below one of them.

namespace {

constexpr std::uint64_t kRootLowerBoundNodes =
    60000; // choices looked at for a lower bound of a branch

// A number for the node number `n` below another: the same in every run, and hardly ever twice.
std::uint32_t hashed(std::uint32_t number, std::uint32_t n) {
    std::uint64_t h = (std::uint64_t{number} << 32U | n) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29U;
    return static_cast<std::uint32_t>((h * 0xBF58476D1CE4E5B9U) >> 32U);
}

} // namespace

double BranchAndBound::root_bound() {
    at_.fill(0);
    return load() ? estimator_.relaxed(product_.data(), Known::little, kNoValue) : kNoValue;
}

// Lower bounds of the branch, one by one until its bound is too high; false then.
bool BranchAndBound::find_lower_bounds(std::array<double, kMaxLevels>& lower_bounds) {
    at_.fill(0);
    if (!load()) {
        return false;
    }
    double bound = estimator_.relaxed(product_.data(), Known::little, cut());
    for (std::size_t i = 1; i < space_.keeps.size() && bound <= cut(); ++i) {
        if (has_lower_bound(i)) {
            lower_bounds[i] = finder_->lower_bound(i, at_, kRootLowerBoundNodes);
            estimator_.set_lower_bounds(lower_bounds);
            bound = estimator_.relaxed(product_.data(), Known::little, cut());
        }
    }
    root_lower_bounds_ = lower_bounds;
    counts.nodes += finder_->nodes();
    if (bound > cut()) {
        count_limit();
        return false;
    }
    return true;
}

std::vector<Candidate> BranchAndBound::roots() {
    at_.fill(0);
    const std::vector<Candidate> nodes = children(0, 0.0);
    settle();
    return nodes;
}

void BranchAndBound::begin(const Job& job) {
    job_ = job;
    seen_ = std::numeric_limits<std::uint64_t>::max();
    spent_ = counts.nodes;
    most_nodes_ = std::numeric_limits<std::uint64_t>::max();
    left_ = kNoValue;
}

void BranchAndBound::open_group(const Start& node, std::vector<Start>& below) {
    begin(kKnown);
    starts_ = &below;
    most_ = std::numeric_limits<std::size_t>::max() - 1;
    branch_ = node.branch;
    target_ = kGroups;
    at_ = node.at;
    std::size_t step = node.step;
    while (step < kGroups && only_child(step)) {
        ++step;
    }
    if (step == kGroups) {
        finish_level(kGroups, node.bound);
    } else {
        const std::size_t g = kGroupOrder[step];
        for (const Candidate& child : children(step, node.bound)) {
            at_[g] = child.node;
            if (step + 1 == kGroups) {
                finish_level(kGroups, child.bound);
            } else {
                below.push_back({branch_, child.bound, at_, step + 1});
            }
        }
    }
    starts_ = nullptr;
    settle();
    std::uint32_t number = 0;
    for (Start& some : below) {
        some.number = hashed(node.number, ++number);
    }
}

void BranchAndBound::take_up(std::size_t branch, const Start& node, std::vector<Start>& starts) {
    begin(kKnown);
    starts_ = &starts;
    branch_ = branch;
    target_ = kGroups;
    at_ = node.at;
    hops_ = node.ramp;
    finish_level(kGroups, node.bound);
    hops_ = std::nullopt;
    starts_ = nullptr;
    settle();
}

bool BranchAndBound::refine(const Start& start, std::size_t most, std::vector<Start>& below) {
    begin(start.key());
    starts_ = &below;
    most_ = below.size() + most;
    branch_ = start.branch;
    target_ = start.spread() ? start.step + kGroups : kGroups;
    go_below(start);
    starts_ = nullptr;
    settle();
    std::uint32_t number = 0;
    for (Start& node : below) {
        node.number = start.number;
        node.node = (start.node << 13U) + ++number;
    }
    return left_ == kNoValue;
}

double BranchAndBound::run(const Start& start, std::uint64_t most) {
    begin(start.key());
    most_nodes_ = most == most_nodes_ ? most : counts.nodes + most;
    go_below(start);
    settle();
    return left_;
}

void BranchAndBound::go_below(const Start& start) {
    at_ = start.at;
    if (start.bound > cut()) {
        count(kBeaten);
    } else if (at_[kFirstGroup] == 0) {
        branch_out(0, start.bound);
    } else if (!start.spread()) {
        descend(start.step, start.bound);
    } else {
        few_lanes_ = start.few_lanes;
        anchored_ = anchored_levels();
        estimator_.set_lower_bounds(start.lower_bounds);
        estimator_.set_ramp(start.ramp);
        go_on(start.step, start.bound);
        estimator_.set_lower_bounds(root_lower_bounds_);
        estimator_.set_ramp(root_ramp_);
    }
}

// The ends of a search: all trips are decided, what is left is the order of the loops.

void BranchAndBound::visit() {
    Leaf leaf{index_, {}, {}};
    for (std::size_t g = 0; g < kGroups; ++g) {
        leaf.chains[g] = space_.groups[g].nodes[at_[g]].chain;
    }
    if (reuse_) {
        visit_reuses(leaf);
        return;
    }
    const auto good = estimator_.good_orders(product_.data(), cut());
    counts.pruned[kOrders] += good.empty() ? 1 : 0;
    for (const auto& [value, c] : good) {
        if (value <= cut()) {
            leaf.orders = estimator_.orders().combinations()[c];
            offer(leaf, value);
        }
    }
}

// With step 7: every way in which tiles may rest.
void BranchAndBound::visit_reuses(Leaf& leaf) {
    const auto good = reuse_->good(leaf.chains, product_.data(), cut());
    counts.pruned[kOrders] += good.empty() ? 1 : 0;
    for (const OperandReuse::Good& some : good) {
        if (some.value <= cut()) {
            leaf.orders = some.orders;
            offer(leaf, some.value);
        }
    }
}

void BranchAndBound::offer(const Leaf& leaf, double at_least) {
    bool all_placed = true;
    auto real = realise(shared_.task, space_, leaf, all_placed);
    if (!all_placed) {
        shared_.leave_out(at_least);
    }
    if (real) {
        shared_.offer(job_, *std::move(real), counts.nodes);
    }
}

// What the workers of a search share: the best mapping so far, and the counts of all.

namespace {

constexpr std::array<const char*, kRules> kRuleNames = {
    "B4 fan-out",  "B4 axes",   "B5 storage",      "least utilization", "B1 workload",
    "B2 dataflow", "B3 units",  "B4 steps",        "B6 bandwidth",      "B7 ramps",
    "orders",      "dominated", "beaten meanwhile"};

} // namespace

void SearchState::offer(const Job& job, SearchResult real, std::uint64_t nodes) {
    const double value = real.certificate.value;
    std::lock_guard lock(mutex);
    if (below != nullptr) {
        below->found(real);
        best = below->cutoff();
        return;
    }
    const double now = best.load();
    const bool better = value < now * (1.0 - kSlack);
    if (!better && (value > now * (1.0 + kSlack) || !(job < best_job))) {
        return;
    }
    // A reader takes the value first, then sees that there was an offer, and waits for its job.
    ++offers;
    best = std::min(now, value);
    best_job = job;
    found = std::move(real);
    if (better) {
        outcome.history.push_back({effort.seconds(), outcome.nodes + nodes, value});
    }
}

void SearchState::leave_out(double at_least) {
    std::lock_guard lock(mutex);
    outcome.left_out = std::min(outcome.left_out, at_least);
}

void SearchState::add(const Counts& counts) {
    std::lock_guard lock(mutex);
    outcome.nodes += counts.nodes;
    for (std::size_t r = 0; r < kRules; ++r) {
        outcome.pruned[kRuleNames[r]] += counts.pruned[r];
    }
}

} // namespace eyeroof::mapper
