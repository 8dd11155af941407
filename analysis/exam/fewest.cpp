#include "analysis/exam/fewest.hpp"

#include <algorithm>

namespace eyeroof::analysis {

namespace {

using Kept = std::vector<bool>;
using Rules = std::vector<std::size_t>;

constexpr std::size_t kMostChoices = 100000; // looked at for one smallest choice

Kept marked(std::size_t count, const Rules& rules) {
    Kept kept(count, false);
    for (const std::size_t rule : rules) {
        kept[rule] = true;
    }
    return kept;
}

// A smallest choice with at least one rule of each set, if it has fewer than `less` rules.
class SmallestChoice {
  public:
    SmallestChoice(const std::vector<Rules>& sets, std::size_t less) : sets_(sets), less_(less) {}

    std::optional<Rules> find() {
        choose({});
        return best_;
    }
    bool all_seen() const { return looked_at_ <= kMostChoices; }

  private:
    void choose(const Rules& chosen) {
        if (chosen.size() >= less_ || ++looked_at_ > kMostChoices) {
            return;
        }
        const auto open = std::find_if(sets_.begin(), sets_.end(), [&](const Rules& set) {
            return std::none_of(set.begin(), set.end(), [&](std::size_t rule) {
                return std::find(chosen.begin(), chosen.end(), rule) != chosen.end();
            });
        });
        if (open == sets_.end()) {
            best_ = chosen;
            less_ = chosen.size();
            return;
        }
        for (const std::size_t rule : *open) {
            Rules more = chosen;
            more.push_back(rule);
            choose(more);
        }
    }

    const std::vector<Rules>& sets_;
    std::size_t less_;
    std::size_t looked_at_ = 0;
    std::optional<Rules> best_;
};

// What can go without a choice appearing, goes.
Rules reduced(std::size_t count, const CanHold& can_hold) {
    Kept kept(count, true);
    for (std::size_t i = 0; i < count; ++i) {
        kept[i] = false;
        kept[i] = can_hold(kept) != std::optional(false);
    }
    Rules rules;
    for (std::size_t i = 0; i < count; ++i) {
        if (kept[i]) {
            rules.push_back(i);
        }
    }
    return rules;
}

// Rules that hold together grow to as many as do: those left out are a set of which one must go.
Rules left_out(Kept kept, const CanHold& can_hold) {
    Rules out;
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!kept[i]) {
            kept[i] = true;
            kept[i] = can_hold(kept) == std::optional(true);
            if (!kept[i]) {
                out.push_back(i);
            }
        }
    }
    return out;
}

} // namespace

FewestRules fewest_rules(std::size_t count, const CanHold& can_hold) {
    FewestRules fewest{reduced(count, can_hold), false};
    std::vector<Rules> sets;
    while (true) {
        SmallestChoice smallest(sets, fewest.rules.size());
        auto choice = smallest.find();
        if (!choice) {
            fewest.proved = smallest.all_seen();
            return fewest;
        }
        std::sort(choice->begin(), choice->end());
        const Kept kept = marked(count, *choice);
        const auto held = can_hold(kept);
        if (!held) {
            return fewest;
        }
        if (!*held) {
            return {*choice, smallest.all_seen()};
        }
        sets.push_back(left_out(kept, can_hold));
    }
}

} // namespace eyeroof::analysis
