#include "mapper/walk.hpp"

#include <algorithm>

// What the walkers of a search share: the best mapping so far, and the counts of all.

namespace eyeroof::mapper {

namespace {

constexpr std::array<const char*, kRules> kRuleNames = {
    "B4 fan-out",  "B4 axes",   "B5 storage",      "least utilization", "B1 workload",
    "B2 dataflow", "B3 units",  "B4 steps",        "B6 bandwidth",      "B7 ramps",
    "orders",      "dominated", "beaten meanwhile"};

} // namespace

void Shared::offer(const Job& job, SearchResult real, std::uint64_t nodes) {
    const double value = real.certificate.value;
    std::lock_guard lock(mutex);
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

void Shared::leave_out(double at_least) {
    std::lock_guard lock(mutex);
    outcome.left_out = std::min(outcome.left_out, at_least);
}

void Shared::add(const Counts& counts) {
    std::lock_guard lock(mutex);
    outcome.nodes += counts.nodes;
    for (std::size_t r = 0; r < kRules; ++r) {
        outcome.pruned[kRuleNames[r]] += counts.pruned[r];
    }
}

} // namespace eyeroof::mapper
