// A network whose attention is written out as operators, with each attention as one kernel.
// Called where an answer says what a fused kernel would change. Knows no machine.
#pragma once

#include "model/network.hpp"

namespace eyeroof::study {

// A product of matrices [m x k] x [k x n], operators over its m n results with a softmax among
// them, and a product [m x n] x [n x k], one after the other and as often, become one attention
// layer of as many heads as the products have matrices. Only forward layers; that a mask is causal
// is not known and not made use of. The same network where there is none.
model::Network with_fused_attention(const model::Network& network);

} // namespace eyeroof::study
