// What stays on an accelerator's chip over a network, where a level keeps weights
// (model::Level::keeps_weights).
//
// alive(i): bytes of the activations that are alive while operator i runs, the network's inputs and
// outputs among them, as wide as the inputs that they are next.
//
// Activations: a tensor stays where alive(i) fits the store in all operators of its life. The
// network's inputs come from the outermost memory, and its outputs go there.
//
// Weights: stay in the order of the layers, each layer whole with all its runs, in what the largest
// alive(i) that fits leaves. Where not all fit, an eighth of the store is left to tiles. A run
// finds the store without the weights of all other runs that stay, those of its own layer among
// them.
//
// The order is that of the Edge TPU Compiler's parameter caching (coral.ai/docs/edgetpu/compiler,
// recalled); the eighth is an assumption.
#pragma once

#include "analysis/program/graph.hpp"
#include "model/accelerator/accelerator.hpp"

#include <vector>

namespace eyeroof::analysis {

// The level that keeps weights; nullptr: there is none.
const model::Level* weight_keeper(const model::Accelerator& accelerator);

// The machine as each layer of the program finds it, by layer: with Level::scheduled, and stores
// without what they hold for others. The accelerator has a level that keeps weights.
std::vector<model::Accelerator> scheduled_machines(const step::Graph& program,
                                                   const model::Accelerator& accelerator);

} // namespace eyeroof::analysis
