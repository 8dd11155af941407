#include "mapper/walk.hpp"

// The ends of a walk: all trips are decided, what is left is the order of the loops.

namespace eyeroof::mapper {

using namespace model;

void Walker::visit() {
    Leaf leaf{index_, {}, {}};
    for (std::size_t g = 0; g < kGroups; ++g) {
        leaf.chains[g] = space_.groups[g].nodes[at_[g]].chain;
    }
    if (rests_) {
        visit_resting(leaf);
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
void Walker::visit_resting(Leaf& leaf) {
    const auto good = rests_->good(leaf.chains, estimator_, product_.data(), cut());
    counts.pruned[kOrders] += good.empty() ? 1 : 0;
    for (const Rests::Good& some : good) {
        if (some.value <= cut()) {
            leaf.orders = some.orders;
            offer(leaf, some.value);
        }
    }
}

void Walker::offer(const Leaf& leaf, double at_least) {
    bool all_placed = true;
    auto real = realise(shared_.task, space_, leaf, all_placed);
    if (!all_placed) {
        shared_.leave_out(at_least);
    }
    if (real) {
        shared_.offer(job_, *std::move(real), counts.nodes);
    }
}

} // namespace eyeroof::mapper
