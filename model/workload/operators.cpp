#include "model/workload/operators.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::model {

namespace {

// softmax y = e^(x - max) / sum: comparison, subtraction, exponential, addition, division: 5 an
// element; its gradient y (g - sum(g y)): 4. A rotary embedding turns pairs, (a cos - b sin, a sin
// + b cos): 6 operations a pair, 3 an element, and its gradient turns back. The sines are computed
// or cached, not counted as traffic.
constexpr auto kOperators = std::to_array<OperatorTraits>({
    {.op = Op::conv2d,
     .name = "conv2d",
     .shape = ShapeKind::conv,
     .weight_gradient = true,
     .multiplies = true,
     .call = CallKind::convolution},
    {.op = Op::gemm,
     .name = "gemm",
     .shape = ShapeKind::gemm,
     .weight_gradient = true,
     .multiplies = true,
     .call = CallKind::product},
    {.op = Op::bmm,
     .name = "bmm",
     .shape = ShapeKind::gemm,
     .weight_gradient = true,
     .multiplies = true,
     .call = CallKind::product},
    {.op = Op::maxpool, .name = "maxpool", .shape = ShapeKind::pool, .call = CallKind::pool},
    {.op = Op::avgpool, .name = "avgpool", .shape = ShapeKind::pool, .call = CallKind::pool},
    {.op = Op::elementwise, .name = "elementwise", .shape = ShapeKind::elementwise},
    {.op = Op::softmax, .name = "softmax", .flops = 5, .gradient_flops = 4, .keeps_output = true},
    {.op = Op::layernorm, .name = "layernorm", .weight_gradient = true, .call = CallKind::norm},
    {.op = Op::batchnorm, .name = "batchnorm", .weight_gradient = true, .call = CallKind::norm},
    {.op = Op::embedding, .name = "embedding", .input_gradient = false, .weight_gradient = true},
    {.op = Op::rope, .name = "rope", .flops = 3, .gradient_flops = 3},
    {.op = Op::attention,
     .name = "attention",
     .shape = ShapeKind::attention,
     .multiplies = true,
     .call = CallKind::product},
    {.op = Op::moe,
     .name = "moe",
     .shape = ShapeKind::moe,
     .weight_gradient = true,
     .call = CallKind::product},
});

} // namespace

std::span<const OperatorTraits> operators() {
    return kOperators;
}

const OperatorTraits& traits_of(Op op) {
    // Rows stand in the order of Op: tests/model/test_operators.cpp.
    return kOperators[std::min(static_cast<std::size_t>(op), kOperators.size() - 1)];
}

} // namespace eyeroof::model
