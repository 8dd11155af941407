// Who reads whose output in an ONNX model, in terms of the layers that its nodes became.
#pragma once

#include "formats/onnx/attention_patterns.hpp"
#include "formats/onnx/graph.hpp"
#include "model/workload/graph_edges.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::formats::onnx {

// Steps of the layers that stand behind each other in `order`. Nodes without a layer are views of
// what they read; so is an operand of another size than its layer reads (stretched, or a part).
// Layers of one node follow each other. Nothing where there would be too many steps.
std::optional<model::GraphEdges> edges_of(const OnnxGraph& graph,
                                          const std::vector<std::size_t>& order,
                                          const Costed& costed, const std::string& file);

} // namespace eyeroof::formats::onnx
