// Nodes of a graph so that each stands behind those that it reads from.
#pragma once

#include "base/result.hpp"
#include "formats/onnx/graph.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace eyeroof::formats::onnx {

// Indices into graph.nodes; the file's own order where that is one. Errors:
// "cyclic-graph" with a node of the cycle; "bad-onnx" where two nodes give one
// tensor.
Result<std::vector<std::size_t>> run_order(const OnnxGraph& graph, const std::string& file);

} // namespace eyeroof::formats::onnx
