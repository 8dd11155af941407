// What an ONNX file says that shapes and costs need: nodes, sizes, small
// constants. Made by read_graph, flattened by inline_functions, walked by
// convert. Holds no weights.
#pragma once

#include "model/workload/layer.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::onnx {

inline constexpr int kFloat = 1, kUint8 = 2, kInt8 = 3, kUint16 = 4, kInt16 = 5, kInt32 = 6,
                     kInt64 = 7, kBool = 9, kHalf = 10, kDouble = 11, kUint32 = 12, kUint64 = 13,
                     kBfloat16 = 16; // of TensorProto.DataType

struct OnnxGraph;

// A size, the name of one, or neither.
struct Dim {
    std::optional<std::int64_t> size;
    std::string name;
};

struct TensorType {
    int element = 0; // TensorProto.DataType; 0: unknown
    std::optional<std::vector<Dim>> dims;
};

// A constant. Its values are kept while they are so few that they may be a
// shape.
struct Constant {
    int element = 0;
    std::vector<std::int64_t> dims;
    std::optional<std::vector<double>> values;
};

struct Attribute {
    std::int64_t i = 0;
    float f = 0.0F;
    std::string s;
    std::vector<std::int64_t> ints;
    std::vector<double> floats;
    std::optional<Constant> tensor;
    std::shared_ptr<const OnnxGraph> graph; // the body of Loop and Scan, a branch of If
    std::string refers; // of a function's body: the attribute of its call that is meant
};

struct OnnxNode {
    std::string op;
    std::string domain; // "" is ONNX's own
    std::string name;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    std::map<std::string, Attribute> attributes;
    std::vector<std::string> captured; // tensors of the graphs around it that its bodies read

    // Inputs, then captured tensors; views of this node's names.
    std::vector<std::string_view> reads() const;
};

struct OnnxFunction {
    std::string op, domain;
    std::vector<std::string> inputs, outputs;
    std::vector<OnnxNode> nodes;
    std::map<std::string, Attribute> defaults;
};

struct OnnxGraph {
    std::string name;
    std::int64_t opset = 1;
    std::vector<OnnxNode> nodes;
    std::map<std::string, Constant> constants; // initializers
    std::map<std::string, TensorType> told;    // value_info and outputs
    std::vector<std::string> inputs;           // that are no initializers, in order
    std::map<std::string, TensorType> input_types;
    std::vector<std::string> outputs;
    std::vector<OnnxFunction> functions;
};

// Names that a graph reads and does not make: those of the graphs around it.
std::vector<std::string> captured_by(const OnnxGraph& graph);
// Fills `captured` of every node, also of those in bodies.
void find_captured(OnnxGraph& graph);

// Bits of an element; the nearest of eyeroof's types (indices and truth values
// are whole numbers).
model::DataType data_type_of(int element);

} // namespace eyeroof::formats::onnx
