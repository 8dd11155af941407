#include "analysis/trials/space.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <numeric>

namespace eyeroof::analysis::tune {

namespace {

constexpr Count kMost = std::numeric_limits<Count>::max();
constexpr Count kMostCounted = 50'000'000;
constexpr int kMisses = 10'000;

Count saturated(Count a, Count b) {
    return checked_mul(a, b).value_or(kMost);
}

bool keeps(const Space& space, const Rule& rule, const Point& point) {
    std::array<Count, kMostKnobs> values{};
    for (std::size_t i = 0; i < rule.knobs.size(); ++i) {
        values[i] = space.value(point, rule.knobs[i]);
    }
    return rule.allows({values.data(), rule.knobs.size()});
}

// Which knobs rules join, each set once.
std::vector<std::vector<std::size_t>> joined_knobs(std::size_t knobs,
                                                   const std::vector<Rule>& rules) {
    std::vector<std::size_t> of(knobs);
    std::iota(of.begin(), of.end(), 0);
    for (const Rule& rule : rules) {
        for (const std::size_t knob : rule.knobs) {
            const std::size_t from = of[knob];
            const std::size_t to = of[rule.knobs.front()];
            std::replace(of.begin(), of.end(), from, to);
        }
    }
    std::vector<std::vector<std::size_t>> sets(knobs);
    for (std::size_t knob = 0; knob < knobs; ++knob) {
        sets[of[knob]].push_back(knob);
    }
    std::erase_if(sets, [](const auto& set) { return set.empty(); });
    return sets;
}

} // namespace

Space::Space(std::vector<Knob> knobs, std::vector<Rule> rules, std::optional<Count> valid)
    : knobs_(std::move(knobs)), rules_(std::move(rules)), known_valid_(valid), size_(1) {
    assert(knobs_.size() <= kMostKnobs);
    for (const Knob& knob : knobs_) {
        size_ = saturated(size_, static_cast<Count>(knob.values.size()));
    }
}

std::optional<Count> Space::count_joined(const std::vector<std::size_t>& set) const {
    Count points = 1;
    for (const std::size_t knob : set) {
        points = saturated(points, static_cast<Count>(knobs_[knob].values.size()));
    }
    std::vector<const Rule*> rules;
    for (const Rule& rule : rules_) {
        if (std::find(set.begin(), set.end(), rule.knobs.front()) != set.end()) {
            rules.push_back(&rule);
        }
    }
    if (rules.empty() || points > kMostCounted) {
        return rules.empty() ? std::optional(points) : std::nullopt;
    }
    Count valid = 0;
    Point point;
    for (Count n = 0; n < points; ++n) {
        valid += std::all_of(rules.begin(), rules.end(),
                             [&](const Rule* rule) { return keeps(*this, *rule, point); })
                     ? 1
                     : 0;
        for (const std::size_t knob : set) {
            if (++point.digit[knob] < knobs_[knob].values.size()) {
                break;
            }
            point.digit[knob] = 0;
        }
    }
    return valid;
}

std::optional<Count> Space::valid_size() const {
    if (known_valid_) {
        return known_valid_;
    }
    Count all = 1;
    for (const auto& set : joined_knobs(knobs_.size(), rules_)) {
        const auto some = count_joined(set);
        if (!some) {
            return std::nullopt;
        }
        all = saturated(all, *some);
    }
    return all;
}

Point Space::at(Count index) const {
    Point point;
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
        const auto radix = static_cast<Count>(knobs_[knob].values.size());
        point.digit[knob] = static_cast<std::uint32_t>(index % radix);
        index /= radix;
    }
    return point;
}

Count Space::index_of(const Point& point) const {
    Count index = 0;
    for (std::size_t knob = knobs_.size(); knob-- > 0;) {
        index = saturated(index, static_cast<Count>(knobs_[knob].values.size()));
        index = checked_add(index, point.digit[knob]).value_or(kMost);
    }
    return index;
}

std::optional<std::size_t> Space::find(std::string_view name) const {
    for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
        if (knobs_[knob].name == name) {
            return knob;
        }
    }
    return std::nullopt;
}

const Rule* Space::broken(const Point& point) const {
    const auto at = std::find_if(rules_.begin(), rules_.end(),
                                 [&](const Rule& rule) { return !keeps(*this, rule, point); });
    return at == rules_.end() ? nullptr : &*at;
}

bool Space::valid(const Point& point) const {
    return broken(point) == nullptr;
}

std::optional<Point> Space::draw(Rng& rng) const {
    for (int miss = 0; miss < kMisses; ++miss) {
        Point point;
        for (std::size_t knob = 0; knob < knobs_.size(); ++knob) {
            point.digit[knob] = static_cast<std::uint32_t>(rng.below(knobs_[knob].values.size()));
        }
        if (valid(point)) {
            return point;
        }
    }
    return std::nullopt;
}

Point Space::neighbour(const Point& point, Rng& rng) const {
    constexpr int kTries = 50;
    for (int n = 0; n < kTries; ++n) {
        Point next = point;
        const std::size_t knob = rng.below(knobs_.size());
        const std::size_t values = knobs_[knob].values.size();
        if (values < 2) {
            continue;
        }
        next.digit[knob] =
            static_cast<std::uint32_t>((point.digit[knob] + 1 + rng.below(values - 1)) % values);
        if (valid(next)) {
            return next;
        }
    }
    return point;
}

std::vector<Count> up_to(std::span<const Count> wanted, Count most) {
    std::vector<Count> values;
    for (const Count value : wanted) {
        if (value < most) {
            values.push_back(value);
        }
    }
    values.push_back(most);
    return values;
}

} // namespace eyeroof::analysis::tune
