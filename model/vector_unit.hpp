// What an operator without multiply-accumulates takes on an accelerator's vector unit.
//
//   compute = operations / lanes, one an element at least, or elements / (lanes rate) where the
//   unit
//             names a rate of the function
//   ports   = max(bytes read / read port, bytes written / write port), at the unit's level
//   outer   = passing_cycles() of what crosses the outermost memory
//   cycles  = max(compute, ports, outer), or their sum where the unit overlaps none; at least one
// The tensors come from the unit's level where it keeps activations between layers and all of them
// fit there; weights (of norms) always come from the outermost memory.
#pragma once

#include "model/accelerator/outermost.hpp"
#include "model/workload/layer.hpp"

#include <string>
#include <string_view>

namespace eyeroof::model {

enum class VectorWall { lanes, ports, outer_memory };

struct VectorCost {
    double compute_cycles = 0.0;
    double port_cycles = 0.0;
    double outer_cycles = 0.0;
    double cycles = 1.0;
    VectorWall wall = VectorWall::lanes; // the longest of the three
    bool resident = false;               // the activations never leave the chip
    double level_bytes = 0.0;            // read and written at the unit's level
    PassingBytes outer;                  // what crosses the outermost memory
    double outer_bytes = 0.0;            // all of it
    double energy_pj = 0.0;              // operations, the unit's level, and the outermost memory
};

// The function as rates name it: "softmax", "layernorm", "gelu", "maxpool".
std::string vector_function(const Layer& layer);

// Are the activations of an operator at the level, which keeps them between layers?
bool activations_stay(const Accelerator& accelerator, std::size_t level, const Work& work);

// As which operand an operator without multiply-accumulates moves a tensor.
Operand operand_of(const TensorUse& tensor);

// Energy of each word of the tensor once at a level, pJ: as it is read, or written.
double energy_at(const Accelerator& accelerator, std::size_t level, const TensorUse& tensor,
                 bool reads);

// `work` of one execution. The machine must have a vector unit.
VectorCost vector_cost(const Layer& layer, const Work& work, const Accelerator& accelerator);

} // namespace eyeroof::model
