// The table of operators: one row holds what the program asks of an operator by its kind alone.
// A new operator is a value of Op, a row here, and, unless its traffic is one matrix in and one
// out, its count in layer_work.cpp.
#pragma once

#include "model/workload/layer.hpp"

#include <span>
#include <string_view>

namespace eyeroof::model {

enum class ShapeKind { conv, gemm, pool, rows, elementwise, attention, moe }; // order of Shape

// What a framework's call of it resembles; see CallWeights.
enum class CallKind { plain, convolution, product, norm, pool };

struct OperatorTraits {
    Op op = Op::gemm;
    std::string_view name; // in files and reports
    ShapeKind shape = ShapeKind::rows;
    bool input_gradient = true;
    bool weight_gradient = false; // of bmm: of its second operand
    bool multiplies = false;      // its multiply-accumulates form loop nests
    CallKind call = CallKind::plain;
    // Of an operator that reads a matrix and writes one: operations an element, forward, and of the
    // gradient. The gradient reads the output where it keeps it, and the output's gradient. 0:
    // layer_work.cpp counts it.
    Count flops = 0, gradient_flops = 0;
    bool keeps_output = false;
};

std::span<const OperatorTraits> operators();
const OperatorTraits& traits_of(Op op);

} // namespace eyeroof::model
