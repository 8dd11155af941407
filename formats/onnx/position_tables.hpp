// Numbers that stand for places: angles of rotary positions and tables of their cosines. They are
// constants of a graph, and not learned.
#pragma once

#include "formats/onnx/attention_patterns.hpp"
#include "formats/onnx/graph.hpp"

#include <cstddef>
#include <vector>

namespace eyeroof::formats::onnx {

// For each node whether all that its results lead to is a sine or a cosine.
std::vector<bool> nodes_of_angles(const OnnxGraph& graph, const std::vector<std::size_t>& order);

// Takes the parameters from what is looked up in a table and then multiplies data and nothing else.
void forget_tables(const OnnxGraph& graph, Costed& costed);

} // namespace eyeroof::formats::onnx
