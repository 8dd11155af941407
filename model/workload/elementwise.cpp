#include "model/workload/elementwise.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace eyeroof::model {

namespace {

// g: gradient of the output, y: the output, s: sigmoid(x). An optimizer step has no gradient.
// "…u" functions take a scalar as second operand, so they read one tensor.
// clang-format off
constexpr std::array kTable = {
    //                  name            reads writes flops saved gradient
    ElementwiseFunction{"relu",           1,    1,    1,    1,    1}, // max(x, 0); g where x > 0
    ElementwiseFunction{"add",            2,    1,    1,    0,    0}, // both gradients are g
    ElementwiseFunction{"sub",            2,    1,    1,    0,    1}, // g, -g
    ElementwiseFunction{"mul",            2,    1,    1,    2,    2}, // g b, g a
    ElementwiseFunction{"div",            2,    1,    1,    2,    4}, // g / b; -(g / b)(a / b)
    ElementwiseFunction{"pow",            2,    1,    1,    2,    8}, // g b a^(b-1); g a^b ln a
    ElementwiseFunction{"max",            2,    1,    1,    2,    2}, // g to the greater one
    ElementwiseFunction{"min",            2,    1,    1,    2,    2},
    ElementwiseFunction{"add3",           3,    1,    2,    0,    0}, // a + b + c
    ElementwiseFunction{"addu",           1,    1,    1,    0,    0},
    ElementwiseFunction{"subu",           1,    1,    1,    0,    0},
    ElementwiseFunction{"mulu",           1,    1,    1,    0,    1},
    ElementwiseFunction{"divu",           1,    1,    1,    0,    1},
    ElementwiseFunction{"powu",           1,    1,    1,    1,    3}, // g c x^(c-1)
    ElementwiseFunction{"gelu",           1,    1,    9,    1,   18}, // x/2 (1 + tanh(a (x + b x^3)))
    ElementwiseFunction{"sigmoid",        1,    1,    4,    1,    3}, // 1 / (1 + e^-x); g y (1 - y)
    ElementwiseFunction{"tanh",           1,    1,    1,    1,    3}, // g (1 - y^2)
    ElementwiseFunction{"exp",            1,    1,    1,    1,    1}, // g y
    ElementwiseFunction{"log",            1,    1,    1,    1,    1}, // g / x
    ElementwiseFunction{"sqrt",           1,    1,    1,    1,    2}, // g / (2 y)
    ElementwiseFunction{"rsqrt",          1,    1,    2,    1,    4}, // -g y^3 / 2
    ElementwiseFunction{"reciprocal",     1,    1,    1,    1,    3}, // -g y^2
    ElementwiseFunction{"square",         1,    1,    1,    1,    2}, // 2 g x
    ElementwiseFunction{"abs",            1,    1,    1,    1,    1},
    ElementwiseFunction{"neg",            1,    1,    1,    0,    1},
    ElementwiseFunction{"silu",           1,    1,    5,    1,    9}, // x s; g s (1 + x (1 - s))
    ElementwiseFunction{"softplus",       1,    1,    3,    1,    5}, // ln(1 + e^x); g s
    ElementwiseFunction{"leaky_relu",     1,    1,    2,    1,    2},
    ElementwiseFunction{"relu6",          1,    1,    2,    1,    2}, // min(max(x, 0), 6)
    ElementwiseFunction{"clamp",          1,    1,    2,    1,    2},
    ElementwiseFunction{"hardswish",      1,    1,    5,    1,    5}, // x relu6(x + 3) / 6
    ElementwiseFunction{"hardsigmoid",    1,    1,    4,    1,    2}, // relu6(x + 3) / 6
    ElementwiseFunction{"elu",            1,    1,    3,    1,    3}, // x, or a (e^x - 1)
    ElementwiseFunction{"erf",            1,    1,    1,    1,    4}, // 2 / sqrt(pi) e^(-x^2)
    ElementwiseFunction{"where",          3,    1,    1,    1,    2}, // a where c, else b
    ElementwiseFunction{"lstm_cell",      5,    2,   18,    5,   30}, // four gates and c; c, h
    ElementwiseFunction{"gru_cell",       7,    1,   17,    7,   30}, // gates of x, of h, and h
    ElementwiseFunction{"glu",            2,    1,    5,    2,    8}, // a s(b)
    ElementwiseFunction{"swiglu",         2,    1,    6,    2,   12}, // silu(a) b
    ElementwiseFunction{"silu_mul",       2,    1,    6,    2,   12}, // another name of swiglu
    ElementwiseFunction{"geglu",          2,    1,   10,    2,   21}, // gelu(a) b
    ElementwiseFunction{"gelu_mul",       2,    1,   10,    2,   21}, // another name of geglu
    ElementwiseFunction{"dropout",        1,    1,    2,    0,    2}, // mask and scale; the mask comes from its seed
    ElementwiseFunction{"copy",           1,    1,    0,    0,    0},
    ElementwiseFunction{"permute",        1,    1,    0,    0,    0}, // a copy of strided elements
    ElementwiseFunction{"transpose",      1,    1,    0,    0,    0}, // neighbors are none in the source
    ElementwiseFunction{"concat",         1,    1,    0,    0,    0}, // tensors into one, or parts of one
    ElementwiseFunction{"cast",           1,    1,    0,    0,    0},
    ElementwiseFunction{"to_channels_last", 1,  1,    0,    0,    0}, // [n, c, h, w] to [n, h, w, c]
    ElementwiseFunction{"to_channels_first", 1, 1,    0,    0,    0},
    ElementwiseFunction{"scan",           1,    1,    1,    1,    1}, // cumulative sum or product of rows
    ElementwiseFunction{"pick",           1,    1,    1,    0,    1}, // one element of a row each, summed up
    ElementwiseFunction{"fill",           0,    1,    0,    0,   -1},
    ElementwiseFunction{"h2d",            1,    1,    0,    0,   -1}, // from the host over PCIe
    ElementwiseFunction{"d2h",            1,    1,    0,    0,   -1}, // to the host over PCIe
    ElementwiseFunction{"peer",           1,    1,    0,    0,   -1}, // to another GPU over NVLink and the like
    ElementwiseFunction{"sgd",            2,    1,    2,    0,   -1}, // w - lr g
    ElementwiseFunction{"sgd_momentum",   3,    2,    4,    0,   -1}, // v = mu v + g; w - lr v
    ElementwiseFunction{"adam",           4,    3,   14,    0,   -1}, // m, v: 3 + 4; bias 2; sqrt, + eps, /, lr, w: 5
};
// clang-format on

} // namespace

std::span<const ElementwiseFunction> elementwise_table() {
    return kTable;
}

bool is_strided(std::string_view fn) {
    return fn.starts_with(kStrided) || fn == "permute" || fn == "transpose";
}

std::string_view plain_function(std::string_view fn) {
    return fn.substr(fn.starts_with(kStrided) ? kStrided.size() : 0);
}

const ElementwiseFunction* find_elementwise(std::string_view given) {
    const std::string_view fn = plain_function(given);
    const auto found = std::find_if(kTable.begin(), kTable.end(),
                                    [&](const ElementwiseFunction& f) { return f.name == fn; });
    return found == kTable.end() ? nullptr : &*found;
}

std::optional<int> tensors_read(std::string_view fn) {
    const ElementwiseFunction* found = find_elementwise(fn);
    return found != nullptr ? std::optional<int>(found->reads) : std::nullopt;
}

std::vector<std::string_view> elementwise_functions() {
    std::vector<std::string_view> names;
    names.reserve(kTable.size());
    for (const ElementwiseFunction& f : kTable) {
        names.push_back(f.name);
    }
    return names;
}

ElementwiseShape layout_pass(Count elements, Count channels, std::string fn) {
    const Count positions = std::max<Count>((elements + channels - 1) / channels, 1);
    const Count beside = (positions + kMaxDimension - 1) / kMaxDimension;
    return {(positions + beside - 1) / beside, channels * beside, std::move(fn)};
}

} // namespace eyeroof::model
