// Values of outputs that follow from operands with known values: sizes, masks, anchors, scales.
// Results are rounded to the element type after each operator (a size computed in float32 is the
// one that a runtime gets); numbers of 16 bits to float32.
#pragma once

#include "formats/onnx/step.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace eyeroof::formats::onnx {

// Fills `values` of the outputs whose sizes the operator's own function has given, at most
// kMostKept elements each; values that are there already stay. Operands that are upper bounds give
// upper bounds where the operator is monotone in them, and no values elsewhere.
void fold(Step& step);

// A number as an element of TensorProto.DataType `element` holds it.
double as_element(double value, int element);

// The whole part of any number: NaN is 0, numbers beyond 64 bits are the nearest that fit.
std::int64_t whole_of(double value);

// The value of an operand that has exactly one.
std::optional<double> scalar_of(const Step& step, std::size_t operand);

// For each element of a tensor of sizes `result` the position in one of sizes `operand` that is
// stretched to it.
std::vector<std::size_t> stretched(const Dims& result, const Dims& operand);

// Of a reduction: which axes of the input become one element; nothing where its axes are not known.
std::optional<std::vector<bool>> reduced_axes(const Step& step);

// One value of the output for each operator that rearranges, selects or reduces; nothing for other
// operators or where an operand is not known. In fold_structure.cpp and fold_reductions.cpp.
using Values = std::optional<std::vector<double>>;
Values fold_structure(const Step& step);
Values fold_reduction(const Step& step);

} // namespace eyeroof::formats::onnx
