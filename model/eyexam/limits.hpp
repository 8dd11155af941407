// What limits a layer, said in one place: the binding step, what the time would be without a step,
// and shares of the time that add up to it. Filled by study for accelerators and by gpu/ for GPUs;
// shown by every view, table and file.
//
// The cycles of one loop nest, from its chain (min(U, B_k) is the bound of step k; U all units, or
// B_3 where an algorithm multiplies less than the layer does):
//   cycles = max(at_work f1 f2 f3 f4 f5, moving) + added
//   at_work  work / U: every unit busy in every cycle
//   f_k      min(U, B_{k-1}) / min(U, B_k) of steps 1 … 5, which all keep units idle
//   moving   step 6 alone: what the slowest store or network needs at its average bandwidth
//   added    step 7: what the result takes on top of the higher of the two walls
// Nests run one after the other: their cycles add.
//
// Three questions, three answers, none of which stands in for another:
//   loss in the order of the steps   f_k, and B_6 / B_5, B_7 / B_6: a waterfall. Depends on the
//                                    order; the losses of one layer cannot be added up as times.
//   counterfactual                   the cycles if step k alone were ideal (f_k = 1, moving = 0,
//                                    added = 0): what removing it would save. A layer that two
//                                    walls hold alike gains nothing from either alone.
//   share of the time                the mean of what a step adds over all 7! orders in which the
//                                    steps may be removed (Shapley value); with at_work they add up
//                                    to the cycles.
// The binding step is the bound that the result sits at: the longest of moving (step 6), added
// (step 7) and the units' wall at_work f1 … f5. That last one is step 3, "arithmetic", where units
// are busy for more than half of it; else the step of 1 … 5 with the largest factor.
#pragma once

#include "model/eyexam/chain.hpp"

#include <array>
#include <cstddef>
#include <vector>

namespace eyeroof::model {

// Cycles of one execution of one nest; see above.
struct NestCycles {
    double at_work = 0.0;
    std::array<double, 5> factors = {1.0, 1.0, 1.0, 1.0, 1.0};
    double moving = 0.0;
    double added = 0.0;

    bool operator==(const NestCycles&) const = default;
};

// `work`: MACs, or half the operations of layers without. `moving`: cycles of step 6 alone, which
// the chain tells only where they are the longer wall.
NestCycles nest_cycles_of(const Chain& chain, double units, double work, double moving);

struct Limits {                           // cycles, or seconds after scaled()
    std::size_t binding = 3;              // 1 … 7
    bool arithmetic = false;              // step 3 binds because units are busy
    double at_work = 0.0;                 // with the shares: the whole
    std::array<double, kSteps> without{}; // counterfactual: the whole if that step were ideal
    std::array<double, kSteps> share{};   // of the whole

    // The step whose counterfactual is the shortest; 0 where no single step saves anything.
    std::size_t saves_most() const;
    bool operator==(const Limits&) const = default;
};

Limits limits_of(const std::vector<NestCycles>& nests);
Limits scaled(Limits limits, double factor);

} // namespace eyeroof::model
