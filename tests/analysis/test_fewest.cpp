// The fewest rules that contradict, against all subsets.
#include "analysis/exam/fewest.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

namespace test_analysis_fewest {

using namespace eyeroof;

namespace {

using Rules = std::vector<std::size_t>;

// Rules contradict where they hold all of one of these sets.
analysis::CanHold without(const std::vector<Rules>& contradictions) {
    return [contradictions](const std::vector<bool>& kept) -> std::optional<bool> {
        return std::none_of(contradictions.begin(), contradictions.end(), [&](const Rules& set) {
            return std::all_of(set.begin(), set.end(), [&](std::size_t r) { return kept[r]; });
        });
    };
}

} // namespace

TEST_CASE("two rules that contradict are found behind five that do as well") {
    // Leaving out one after the other forgets rules 0 and 1 first and ends with the five.
    const auto found = analysis::fewest_rules(7, without({{0, 1}, {2, 3, 4, 5, 6}}));
    CHECK(found.rules == Rules{0, 1});
    CHECK(found.proved);
}

TEST_CASE("where one rule alone leaves nothing it is named, and where none is needed none is") {
    CHECK(analysis::fewest_rules(5, without({{0, 1}, {3}, {2, 4}})).rules == Rules{3});
    CHECK(
        analysis::fewest_rules(4, [](const auto&) { return std::optional(false); }).rules.empty());
}

TEST_CASE("three overlapping contradictions of twelve rules leave the three that suffice") {
    const auto found = analysis::fewest_rules(
        12, without({{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, {0, 4, 8, 10}, {3, 5, 7}}));
    CHECK(found.rules == Rules{3, 5, 7});
    CHECK(found.proved);
}

TEST_CASE("the fewest rules are no more than those of any subset, in random cases") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        CAPTURE(round);
        std::vector<Rules> contradictions(1 + random() % 4);
        std::size_t least = 8;
        for (Rules& set : contradictions) {
            const unsigned mask = 1 + static_cast<unsigned>(random() % 255);
            for (std::size_t r = 0; r < 8; ++r) {
                if ((mask >> r & 1U) != 0) {
                    set.push_back(r);
                }
            }
            least = std::min(least, set.size());
        }
        const auto found = analysis::fewest_rules(8, without(contradictions));
        CHECK(found.rules.size() == least);
        CHECK(found.proved);
    }
}

TEST_CASE("where the time is over before it is known, what is left contradicts and is not proved") {
    int asked = 0;
    const analysis::CanHold whole = without({{0, 1}, {2, 3, 4}});
    const auto found = analysis::fewest_rules(
        5, [&](const std::vector<bool>& kept) { return ++asked > 3 ? std::nullopt : whole(kept); });
    CHECK_FALSE(found.proved);
    std::vector<bool> kept(5, false);
    for (const std::size_t rule : found.rules) {
        kept[rule] = true;
    }
    CHECK(whole(kept) == std::optional(false));
}

} // namespace test_analysis_fewest
