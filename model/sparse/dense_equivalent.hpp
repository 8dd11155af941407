// The dense machine that needs for a layer, in expectation, what a machine with rules for zeros
// needs: what stands between those rules and everything that knows dense machines only (mapper,
// cost model, seven steps).
//
// Time of the dense equivalent goes by in steps: the time in which every unit gets one MAC of the
// dense nest to do. Where units skip, a step takes `cycles_a_step` cycles, less than one, and so
// less crosses a network in a step. Expectations: zeros of operands are independent.
//
//   cycles a step    product of the densities of those operands whose zeros the units skip
//   bytes of a word  those of its format at that density (format.hpp), or of the plain word where
//                    that is less; times what skipping leaves of the accesses
//   energy           of an access, in proportion to its bits and to the share of accesses that are
//                    not gated or skipped; of a MAC, the share that is done and the gated rest;
//                    what leaks in a cycle, by the cycles of a step
//
// Capacities hold plain words: no tile is larger because its zeros are left out. Where operands
// with different shares of zeros go through one network or store of bounded size, the least saving
// of them counts. Ramps (stages and hops) are left as they are, so that a bound for the dense
// equivalent's time is one for the machine's: see with_exact_ramps.
#pragma once

#include "model/cost/latency_terms.hpp"
#include "model/sparse/rules.hpp"
#include "model/sparse/step.hpp"

namespace eyeroof::model::sparse {

struct DenseEquivalent {
    Accelerator machine;
    double cycles_a_step = 1.0;
    // By level and operand: bytes over those of plain words, at rest and on the way inwards.
    std::vector<PerOperand<double>> bytes;
    // What Twin::machine counts bytes in at each level: scaled so that parts of bits are whole
    // ones.
    std::vector<double> scale;
    double processed = 1.0; // share of the dense MACs that take a cycle
    double effectual = 1.0; // share with no zero operand

    // Nothing is left out anywhere: the machine itself.
    bool plain() const;
};

double density_of(const Densities& densities, Operand operand);

DenseEquivalent dense_equivalent_of(const Accelerator& machine, const Rules& rules,
                                    const Densities& densities);

// Ramps take cycles, not steps.
LatencyTerms with_exact_ramps(LatencyTerms terms, const DenseEquivalent& dense);

} // namespace eyeroof::model::sparse
