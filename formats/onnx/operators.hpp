// What each ONNX operator costs and what sizes it gives, by name. Each function reads its operands
// from the step, gives its outputs' sizes, and adds layers, or says that it moves nothing. An
// operator without a function is reported, never skipped.
#pragma once

#include "formats/onnx/step.hpp"

#include <map>
#include <string>
#include <string_view>

namespace eyeroof::formats::onnx {

using Handler = void (*)(Step&);
using Handlers = std::map<std::string_view, Handler>;

// Operators of ONNX's own domain, and those of com.microsoft that exporters and
// quantisers write.
const Handler* find_handler(const std::string& domain, const std::string& op);

// Whether a node multiplies, or may: products, bodies that hold one, and operators of which nothing
// is known.
bool may_multiply(const OnnxNode& node);

void add_detection(Handlers& handlers);   // what depends on the data: selections, regions, grids
void add_sequences(Handlers& handlers);   // lists of tensors
void add_quantized(Handlers& handlers);   // com.microsoft's quantized and fused operators
void add_products(Handlers& handlers);    // convolutions, Gemm, MatMul, Einsum, quantised ones
void add_recurrent(Handlers& handlers);   // LSTM, GRU, RNN
void add_attention(Handlers& handlers);   // Attention and its variants, rotary positions
void add_norms(Handlers& handlers);       // norms, softmax, pooling, reductions
void add_elementwise(Handlers& handlers); // functions of one element, casts, quantisation
void add_movement(Handlers& handlers);    // what copies, slices, looks up
void add_views(Handlers& handlers);       // what changes sizes only, and sizes themselves

} // namespace eyeroof::formats::onnx
