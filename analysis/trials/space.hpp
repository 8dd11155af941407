// The search space of programs: knobs with their values, and rules that exclude invalid points.
// Points are never listed: each is computed from its index.
// Made by templates; read by every strategy.
#pragma once

#include "analysis/trials/rng.hpp"
#include "base/checked.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

inline constexpr std::size_t kMostKnobs = 16;

struct Knob {
    std::string name;
    std::vector<Count> values; // at least one, all different

    bool operator==(const Knob&) const = default;
};

// Which value of each knob; knobs that the space does not have are 0.
struct Point {
    std::array<std::uint32_t, kMostKnobs> digit{};

    bool operator==(const Point&) const = default;
};

// May these values (of these knobs, in this order) stand together?
struct Rule {
    std::string name;
    std::vector<std::size_t> knobs;
    std::function<bool(std::span<const Count>)> allows;
};

// Points are numbered in mixed radix, the first knob fastest.
class Space {
  public:
    Space() = default;
    // At most kMostKnobs knobs. `valid`: how many points keep the rules, where the maker knows.
    Space(std::vector<Knob> knobs, std::vector<Rule> rules, std::optional<Count> valid = {});

    const std::vector<Knob>& knobs() const { return knobs_; }
    const std::vector<Rule>& rules() const { return rules_; }
    Count size() const { return size_; } // with the points that rules exclude; saturates
    // Points that keep all rules, exactly: knobs that no rule joins are counted apart. Absent when
    // rules join so many knobs that counting takes more than 50 million steps.
    std::optional<Count> valid_size() const;

    Point at(Count index) const; // index in 0 … size() - 1
    Count index_of(const Point& point) const;
    Count value(const Point& point, std::size_t knob) const {
        return knobs_[knob].values[point.digit[knob]];
    }
    std::optional<std::size_t> find(std::string_view knob) const;
    bool valid(const Point& point) const;
    // The first rule that the point breaks; nullptr: none.
    const Rule* broken(const Point& point) const;

    // Any valid point. Nothing after 10,000 misses.
    std::optional<Point> draw(Rng& rng) const;
    // The point with one knob changed to any other value, valid; the same point where none is
    // found.
    Point neighbour(const Point& point, Rng& rng) const;

  private:
    std::optional<Count> count_joined(const std::vector<std::size_t>& knobs) const;

    std::vector<Knob> knobs_;
    std::vector<Rule> rules_;
    std::optional<Count> known_valid_;
    Count size_ = 0;
};

// Values that divide into nothing beyond `most`: those of `wanted` below it, and `most` itself.
std::vector<Count> up_to(std::span<const Count> wanted, Count most);

} // namespace eyeroof::analysis::tune
