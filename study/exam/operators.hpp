// Which of a network's operators are examined: all, all but those that fuse, products alone.
// Called by prepared() before the layers are examined.
// Knows no machine.
#pragma once

#include "model/network.hpp"

namespace eyeroof::study {

// all: every operator for itself, as an eager framework runs a network. fused: batch
// normalisation is folded into the weights of the layer before it and activations run on its
// output, at no cost of their own: what accelerators and compilers for inference do. products:
// convolutions, products and attention alone.
enum class Operators { all, fused, products };

// An activation fuses with the layer before it where both have the same count and elements, a batch
// normalisation where that layer is a convolution or product. A name that says how many operators
// were fused or left out; the same network where none was.
model::Network with_operators(const model::Network& network, Operators operators);

} // namespace eyeroof::study
