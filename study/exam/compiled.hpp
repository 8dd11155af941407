// A network as a framework's compiler runs it: chains of pointwise operators as one kernel each.
// Called by prepared() where the kernels are launched by a compiled program.
// Knows no machine.
#pragma once

#include "model/network.hpp"

namespace eyeroof::study {

// Elementwise operators that follow one another with the same elements, count and direction become
// the one of them that moves the most bytes: what is between them stays in registers. A
// normalisation or softmax over the same elements takes such a chain before or after it with it.
// Updates of weights stay. Products and convolutions keep kernels of their own, as compilers
// without autotuning leave them to the library. A name that says how many were fused; the same
// network where none was.
model::Network compiled(const model::Network& network);

} // namespace eyeroof::study
