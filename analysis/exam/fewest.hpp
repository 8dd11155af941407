// The smallest conflicting subset of a set of rules, for the constraints of a search without a
// mapping.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace eyeroof::analysis {

// Can the rules that are marked hold together, all others forgotten? nullopt: not known in time.
// More rules never make possible what fewer ruled out.
using CanHold = std::function<std::optional<bool>(const std::vector<bool>& kept)>;

struct FewestRules {
    std::vector<std::size_t> rules; // ascending; without one of them the others can hold together
    bool proved = false;            // no smaller set contradicts itself
};

// A smallest conflicting subset of `count` rules that cannot all hold. First redundant rules are
// dropped. Then smaller sets are excluded by minimal hitting sets: every conflicting set contains a
// rule of each correction set, so the smallest hitting set that conflicts is the answer (Ignatiev
// et al., "Smallest MUS extraction with minimal hitting set dualization", CP 2015).
FewestRules fewest_rules(std::size_t count, const CanHold& can_hold);

} // namespace eyeroof::analysis
