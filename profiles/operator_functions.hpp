// Frameworks' pointwise operators and reductions by name, as the model's functions. Names are
// without namespace and the "_" of operators in place.
#pragma once

#include <optional>
#include <string_view>

namespace eyeroof::profiles {

// The function of model/workload/elementwise.cpp that reads and computes as much; nullopt for other
// names.
std::optional<std::string_view> pointwise_function(std::string_view op); // "rsub": "sub"
// Of gradients, whose first argument is the output's gradient: "tanh_backward": "tanh".
std::optional<std::string_view> gradient_function(std::string_view op);
// Gated activations of inference engines: one tensor holds both halves. "silu_and_mul": "swiglu".
std::optional<std::string_view> gated_function(std::string_view op);
// The same function of one tensor and a scalar: "add": "addu"; itself where there is none.
std::string_view unary_of(std::string_view fn);
// All of a tensor read, little written.
bool is_reduction(std::string_view op);
// Makes a tensor of another shape, or none: no element is read or written. "aten::transpose_".
bool is_view(std::string_view op_name);

} // namespace eyeroof::profiles
