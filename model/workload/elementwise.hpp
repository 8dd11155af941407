// The elementwise functions by name: how many tensors each reads and writes, and its operations.
#pragma once

#include "model/workload/layer.hpp"

#include <span>
#include <string>
#include <string_view>

namespace eyeroof::model {

// Operations are those of the textbook formula, one element of the output each: an addition, a
// product, a comparison, a division, a power, a square root and a transcendental function count
// one.
struct ElementwiseFunction {
    std::string_view name;
    int reads;          // tensors read forward
    int writes;         // tensors written forward
    int flops;          // operations forward
    int saved;          // forward tensors that the gradient reads besides the output's gradient
    int gradient_flops; // operations of all input gradients; -1: the function has no gradient
};

// "strided_add": add by a kernel that addresses every element on its own, because an operand is
// broadcast or its rows lie apart. A strided copy is "permute", or "transpose" where neighbors on
// one side are none on the other.
inline constexpr std::string_view kStrided = "strided_";
bool is_strided(std::string_view fn);
std::string_view plain_function(std::string_view fn); // "add"

std::span<const ElementwiseFunction> elementwise_table();
const ElementwiseFunction* find_elementwise(std::string_view fn); // nullptr when unknown

// A pass of so many elements between layouts ("to_channels_last", "to_channels_first"): positions
// (images times pixels, or a filter's taps) by channels. Beyond kMaxDimension positions, some
// stand side by side in a row.
ElementwiseShape layout_pass(Count elements, Count channels, std::string fn);

} // namespace eyeroof::model
