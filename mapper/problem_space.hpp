// What a search may choose from: objective, constraints, and how tiles may be sized.
// Filled in by study and cli; read by every strategy.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/cost/cost.hpp"
#include "model/workload/problem.hpp"

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::mapper {

// The search minimises energy^energy_power * cycles^delay_power.
struct Objective {
    double energy_power = 1.0;
    double delay_power = 1.0;

    static Objective latency() { return {0.0, 1.0}; }
    static Objective energy() { return {1.0, 0.0}; }
    static Objective edp() { return {1.0, 1.0}; }
    double value(double energy_pj, double cycles) const;
    std::string name() const; // "latency", "energy", "edp" or "energy^a*delay^b"
    bool operator==(const Objective&) const = default;
};

// perfect: every loop divides what is outside it. any: the last trip of a loop may be partial.
enum class Factors { perfect, any };

// How many trips a loop may have where they are not fixed.
struct TripRange {
    Count least = 1;
    Count most = std::numeric_limits<Count>::max();

    bool holds(Count trips) const { return least <= trips && trips <= most; }
    bool limits() const { return !(*this == TripRange{}); }
    bool operator==(const TripRange&) const = default;
};

// What the user or the dataflow asks of one level. `where` names it in messages.
struct LevelConstraint {
    model::OperandSet keep;                                  // must rest here
    model::OperandSet bypass;                                // must pass by
    std::array<std::optional<Count>, model::kDims> temporal; // trips of a dimension in time
    std::array<std::optional<Count>, model::kDims> spatial;  // … and in space
    std::array<TripRange, model::kDims> temporal_range;      // what is left to those
    std::array<TripRange, model::kDims> spatial_range;       // that are not fixed
    std::optional<std::vector<model::DimSet>> axis_dims; // by axis: which dimensions it may carry
    std::vector<model::Dim> order; // innermost first; dimensions left out come after, in any order
    std::string where;

    bool operator==(const LevelConstraint&) const = default;
};

struct Constraints {
    std::vector<LevelConstraint> levels; // as Accelerator::levels; empty: none
    model::DimSet whole;                 // unrolled entirely in space or not at all
    double min_utilization = 0.0;        // MACs / (units * steps)
    std::optional<double> max_energy_pj; // of the whole mapping
    std::optional<double> max_cycles;

    bool limited() const { return max_energy_pj || max_cycles; }
    // Are energy and cycles within the limits, up to a relative slack?
    bool allow(double energy_pj, double cycles, double slack = 0.0) const;
    bool operator==(const Constraints&) const = default;
};

// The spatial rules of a dataflow as constraints; what `user` says comes on top and wins.
Constraints constraints_of(const model::Accelerator& machine, const model::Dataflow* dataflow,
                           const Constraints& user = {});

// The time that mappings are judged by. reported: what exam prints, step 7's fill, drain, and
// waiting included (under Timeloop's counting, which has no such step, as overlapped). overlapped:
// that of step 6, as if everything overlapped.
enum class Time { reported, overlapped };

struct Task {
    model::Problem problem;
    model::Accelerator machine;
    Constraints constraints;
    Objective objective;
    Factors factors = Factors::perfect;
    model::Counting counting = model::Counting::eyeroof;
    Time time = Time::reported;
    // Mappings that are known, a dataflow's own for one: what is found is never worse than those of
    // them that keep the constraints, whatever their tile sizes.
    std::vector<model::Mapping> known = {};

    // Does the time decide between mappings? What leaks makes it part of the energy.
    bool time_matters() const;
};

} // namespace eyeroof::mapper
