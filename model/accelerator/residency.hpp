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

// Operands that each level keeps when nothing passes by a store: from the home inwards, wherever
// there is a store.
std::vector<OperandSet> default_keeps(const Problem& problem, const Accelerator& accelerator,
                                      bool hand_over = true);

} // namespace eyeroof::model
