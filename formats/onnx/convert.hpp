// ONNX models as networks: every operator costed, moved for nothing, known beforehand, or reported.
// The layers stand in the order they run; the graph's edges are kept beside them.
#pragma once

#include "formats/onnx/graph.hpp"
#include "formats/onnx/messages.hpp"
#include "formats/onnx/walk.hpp"
#include "model/workload/graph_edges.hpp"
#include "model/workload/network.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::onnx {

// The name in `Sizes` that makes one layer of each attention written as two
// products and a softmax.
inline constexpr std::string_view kFuseAttention = "fused";

struct ConvertedModel {
    model::Network network;
    std::optional<model::GraphEdges> edges; // nothing where it would have too many steps
    std::vector<OperatorCount> operators;   // by name
    std::vector<std::string> dimensions;    // names that the inputs' sizes have
    std::size_t attentions = 0;             // patterns of two products and a softmax
};

// Operators that could not be costed are listed in the network. Warnings: "not-costed" with the
// same list; "upper-bound" where sizes or iterations depend on the data. Errors: "bad-onnx",
// "cyclic-graph", "no-layers"; "missing-dimension" for each size of an input that only has a name
// and is not given; "unknown-parameter" for a given one that no input has.
Result<ConvertedModel> convert(const OnnxGraph& graph, const std::string& file,
                               const Sizes& given = {});
Result<ConvertedModel> parse_onnx(std::string_view bytes, const std::string& file,
                                  const Sizes& given = {}, const BytesPassed& passed = {});
// By the first bytes, or the name's ending: weights may stand before the version.
bool is_onnx_file(const std::filesystem::path& path);
// The file is mapped, not read: gigabytes of weights in it are never touched.
Result<ConvertedModel> load_onnx(const std::filesystem::path& path, const Sizes& given = {});

} // namespace eyeroof::formats::onnx
