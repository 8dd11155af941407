// What a matrix product takes with it: the bias that an exporter adds in a node of its own, and the
// turned operand that it reads by strides.
#pragma once

#include "formats/onnx/attention_patterns.hpp"
#include "formats/onnx/graph.hpp"

namespace eyeroof::formats::onnx {

// A product with shared weights and the learned vector added to it are one layer with a bias, as
// every library of products runs them and as Gemm says it. Sums that another node reads before
// stay apart.
void join_biases(const OnnxGraph& graph, Costed& costed);

// A transpose that only products read moves nothing where a strided, batched product can read its
// operand in place: one of the last two axes lies densely, and all axes before them are one
// distance apart. Nor does a piece that lies densely already, nor what only Concat reads: that
// moves it.
void join_movements(const OnnxGraph& graph, Costed& costed);

} // namespace eyeroof::formats::onnx
