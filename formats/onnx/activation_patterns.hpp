// Activations that exporters write in parts, as the one function they were: x sigmoid(x), and the
// Gaussian unit by its error function.
#pragma once

#include "formats/onnx/attention_patterns.hpp"
#include "formats/onnx/graph.hpp"

namespace eyeroof::formats::onnx {

// One layer in the place of each activation's last node; the others have none. Parts that
// another node reads, too, stay as they are.
void join_activations(const OnnxGraph& graph, Costed& costed);

} // namespace eyeroof::formats::onnx
