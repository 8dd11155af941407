// The search task of a search: a space, features of its points, a closed form, and a target that
// measures points. The same interface for processors, accelerators, and synthetic targets.
#pragma once

#include "analysis/trials/space.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace eyeroof::analysis::tune {

// Groups of features; a set is their sum.
enum Features : unsigned { kKnobs = 1, kLoops = 2, kSteps = 4, kAllFeatures = 7 };
std::string features_name(unsigned set); // "knobs", "loops+steps", "all"
std::optional<unsigned> features_from_name(std::string_view name);

inline constexpr double kNoCost = std::numeric_limits<double>::infinity();

// A candidate in words, and what the closed form says of it.
struct Described {
    std::string text;
    double seconds = 0.0;
    std::array<double, 7> bound{}; // of the seven steps, MAC/cycle
    std::size_t limiter = 0;       // step (from 0) that costs the largest share
};

struct SearchTask {
    std::string name;          // of the layer
    std::string template_name; // with its version: "cpu-blocked/1"
    Space space;
    double flops = 0.0; // of one run; 0: the cost is no time
    std::string cost_unit = "s";
    // Appends the features of a set, as many for every point of the search task, in the same order
    // for all search tasks of a template.
    std::function<void(const Point&, unsigned set, std::vector<float>&)> features;
    // The closed form's cost of a point; finite and above 0.
    std::function<double(const Point&)> predicted;
    std::function<Described(const Point&)> described; // of programs; of mappings none
};

// What became of one trial. cost: of the statistic that was asked for.
struct Outcome {
    double cost = kNoCost;
    std::vector<double> times_s; // of every repeat; empty for closed forms
    std::string error = {};      // "compile", "crash", "timeout", "wrong", "failed"; empty: none
    std::string detail = {};

    bool ok() const { return error.empty() && std::isfinite(cost) && cost > 0.0; }
    bool operator==(const Outcome&) const = default;
};

struct Trial {
    Point point;
    Outcome outcome;
    int round = 0;
    double predicted = 0.0; // the strategy's own score of it, higher is better; 0: it has none
    double at_s = 0.0;      // since the search began, learning and failed trials included

    bool operator==(const Trial&) const = default;
};

// Least cost so far; kNoCost before the first that worked.
double best_cost(const std::vector<Trial>& trials);

class Target {
  public:
    virtual ~Target() = default;
    // Never throws; a candidate that fails is an outcome. "stopped" as error: asked to stop
    // meanwhile, the trial does not count.
    virtual Outcome measure(const Point& point) = 0;
};

} // namespace eyeroof::analysis::tune
