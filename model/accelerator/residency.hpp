// Where each operand lives when a layer starts and ends.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/workload/problem.hpp"

namespace eyeroof::model {

// Index of the level that is an operand's home: the outermost level with a store for it. When the
// layers hand over on chip, the home of activations is a level further in that keeps them between
// layers, if the whole tensor fits there together with the other activations it stores.
PerOperand<std::size_t> home_levels(const Problem& problem, const Accelerator& accelerator,
                                    bool hand_over = true);

// The levels where an operand may be at home, whatever the mapping: from the outermost with a store
// for it to the innermost that keeps activations between layers and could hold all of it. Both are
// the number of levels where no level stores the operand.
struct HomeRange {
    std::size_t outermost = 0;
    std::size_t innermost = 0;
};
HomeRange home_range(const Problem& problem, const Accelerator& accelerator, Operand operand);

// Bytes of an operand that cross the outermost memory whatever the mapping, the one definition of
// compulsory traffic: each distinct word once, as wide as it is sent there, zeros coded. 0 for
// activations that may stay on the chip between layers, the network's own inputs and outputs
// among them.
double compulsory_bytes(const Problem& problem, const Accelerator& accelerator, Operand operand);
double compulsory_bytes(const Problem& problem, const Accelerator& accelerator);

// Operands that each level keeps when nothing passes by a store: from the home inwards, wherever
// there is a store.
std::vector<OperandSet> default_keeps(const Problem& problem, const Accelerator& accelerator,
                                      bool hand_over = true);

} // namespace eyeroof::model
