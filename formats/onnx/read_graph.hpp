// The bytes of a .onnx file as a graph.
#pragma once

#include "base/result.hpp"
#include "formats/onnx/graph.hpp"
#include "formats/onnx/messages.hpp"

#include <string>
#include <string_view>

namespace eyeroof::formats::onnx {

// A node takes up to 5 KB while the graph is converted: 500 MB at most.
inline constexpr std::size_t kMostNodes = 100'000;
// Errors: "bad-onnx" where the bytes are not those of a model, with their
// offset; "no-layers" for a graph without nodes; "too-many-layers", "too-large".
Result<OnnxGraph> read_graph(std::string_view bytes, const std::string& file,
                             const BytesPassed& passed = {}, const Limits& limits = {});

// Whether a file that starts so may be ONNX: a model's first field is its
// version.
bool looks_like_onnx(std::string_view start);

// The same graph with the nodes of its own functions in place of their calls.
// Errors: "bad-onnx" for functions that call themselves; "too-many-layers".
Result<OnnxGraph> inline_functions(OnnxGraph graph, const std::string& file);

} // namespace eyeroof::formats::onnx
