#include "mapper/walk.hpp"

#include <algorithm>

// Where walks begin: the roots of a branch with its floors, nodes at which one more group or level
// is decided, and the walk below one of them.

namespace eyeroof::mapper {

using namespace model;

namespace {

constexpr std::uint64_t kRootFloorNodes = 60000; // choices looked at for a floor of a branch

// A number for the node number `n` below another: the same in every run, and hardly ever twice.
std::uint32_t mixed(std::uint32_t number, std::uint32_t n) {
    std::uint64_t h = (std::uint64_t{number} << 32U | n) * 0x9E3779B97F4A7C15U;
    h ^= h >> 29U;
    return static_cast<std::uint32_t>((h * 0xBF58476D1CE4E5B9U) >> 32U);
}

} // namespace

double Walker::root_bound() {
    at_.fill(0);
    return load() ? estimator_.relaxed(product_.data(), Known::little, kNoValue) : kNoValue;
}

// Floors of the branch, one by one until its bound is too high; false then.
bool Walker::find_floors(std::array<double, kMaxLevels>& floors) {
    at_.fill(0);
    if (!load()) {
        return false;
    }
    double bound = estimator_.relaxed(product_.data(), Known::little, cut());
    for (std::size_t i = 1; i < space_.keeps.size() && bound <= cut(); ++i) {
        if (has_floor(i)) {
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

std::vector<Candidate> Walker::roots() {
    at_.fill(0);
    const std::vector<Candidate> nodes = children(0, 0.0);
    settle();
    return nodes;
}

void Walker::begin(const Job& job) {
    job_ = job;
    seen_ = std::numeric_limits<std::uint64_t>::max();
    spent_ = counts.nodes;
    most_nodes_ = std::numeric_limits<std::uint64_t>::max();
    left_ = kNoValue;
}

void Walker::open_group(const Start& node, std::vector<Start>& below) {
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
        some.number = mixed(node.number, ++number);
    }
}

void Walker::take_up(std::size_t branch, const Start& node, std::vector<Start>& starts) {
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

bool Walker::refine(const Start& start, std::size_t most, std::vector<Start>& below) {
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

double Walker::run(const Start& start, std::uint64_t most) {
    begin(start.key());
    most_nodes_ = most == most_nodes_ ? most : counts.nodes + most;
    go_below(start);
    settle();
    return left_;
}

void Walker::go_below(const Start& start) {
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
        estimator_.set_floors(start.floors);
        estimator_.set_ramp(start.ramp);
        go_on(start.step, start.bound);
        estimator_.set_floors(root_floors_);
        estimator_.set_ramp(root_ramp_);
    }
}

} // namespace eyeroof::mapper
