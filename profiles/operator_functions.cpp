#include "profiles/operator_functions.hpp"

#include <algorithm>
#include <iterator>

namespace eyeroof::profiles {

namespace {

struct Function {
    std::string_view op, fn;
};
// Pointwise operators by the function of model/workload/elementwise.cpp that reads and computes as
// much.
constexpr Function kFunctions[] = {
    {"relu", "relu"},
    {"add", "add"},
    {"sub", "sub"},
    {"rsub", "sub"},
    {"mul", "mul"},
    {"div", "div"},
    {"true_divide", "div"},
    {"floor_divide", "div"},
    {"remainder", "div"},
    {"fmod", "div"},
    {"pow", "powu"},
    {"square", "square"},
    {"gelu", "gelu"},
    {"sigmoid", "sigmoid"},
    {"tanh", "tanh"},
    {"exp", "exp"},
    {"exp2", "exp"},
    {"expm1", "exp"},
    {"sin", "exp"},
    {"cos", "exp"},
    {"log", "log"},
    {"log1p", "log"},
    {"log2", "log"},
    {"sqrt", "sqrt"},
    {"rsqrt", "rsqrt"},
    {"reciprocal", "reciprocal"},
    {"abs", "abs"},
    {"neg", "neg"},
    {"sign", "abs"},
    {"silu", "silu"},
    {"mish", "silu"},
    {"softplus", "softplus"},
    {"logit", "softplus"},
    {"leaky_relu", "leaky_relu"},
    {"_prelu_kernel", "leaky_relu"},
    {"threshold", "relu"},
    {"clamp", "clamp"},
    {"clip", "clamp"},
    {"clamp_min", "clamp"},
    {"clamp_max", "clamp"},
    {"hardtanh", "relu6"},
    {"hardswish", "hardswish"},
    {"hardsigmoid", "hardsigmoid"},
    {"elu", "elu"},
    {"erf", "erf"},
    {"where", "where"},
    {"maximum", "max"},
    {"minimum", "min"},
    {"fmax", "max"},
    {"fmin", "min"},
    {"masked_fill", "where"},
    {"clone", "copy"},
    {"contiguous", "copy"},
    {"native_dropout", "dropout"},
    {"_fused_dropout", "dropout"},
    {"dropout", "dropout"},
    {"bernoulli", "fill"},
    {"fill", "fill"},
    {"zero", "fill"},
    {"normal", "fill"},
    {"uniform", "fill"},
    {"random", "fill"},
    {"arange", "fill"},
    {"eq", "sub"},
    {"ne", "sub"},
    {"lt", "sub"},
    {"le", "sub"},
    {"gt", "sub"},
    {"ge", "sub"},
    {"isnan", "abs"},
    {"isinf", "abs"},
    {"isfinite", "abs"},
    {"bitwise_not", "neg"},
    {"logical_not", "neg"},
    {"bitwise_and", "mul"},
    {"logical_and", "mul"},
    {"bitwise_or", "add"},
    {"logical_or", "add"},
    {"bitwise_xor", "add"},
    {"floor", "abs"},
    {"ceil", "abs"},
    {"round", "abs"},
    {"trunc", "abs"},
    {"nan_to_num", "abs"},
    {"lerp", "add3"},
    {"addcmul", "add3"},
    {"addcdiv", "add3"},
    {"cumsum", "addu"},
    {"flip", "copy"},
    {"roll", "copy"},
    {"triu", "copy"},
    {"tril", "copy"},
};
// Gradients: the operator's first argument is the output's gradient.
constexpr Function kGradients[] = {
    {"tanh_backward", "tanh"},
    {"sigmoid_backward", "sigmoid"},
    {"gelu_backward", "gelu"},
    {"silu_backward", "silu"},
    {"threshold_backward", "relu"},
    {"hardtanh_backward", "relu6"},
    {"hardswish_backward", "hardswish"},
    {"hardsigmoid_backward", "hardsigmoid"},
    {"elu_backward", "elu"},
    {"leaky_relu_backward", "leaky_relu"},
    {"softplus_backward", "softplus"},
    {"native_dropout_backward", "dropout"},
    {"masked_scale", "dropout"},
};
// Gated activations of inference engines: one tensor holds both halves.
constexpr Function kGated[] = {
    {"silu_and_mul", "swiglu"},
    {"mul_and_silu", "swiglu"},
    {"gelu_and_mul", "geglu"},
    {"gelu_tanh_and_mul", "geglu"},
    {"glu", "glu"},
};
constexpr std::string_view kReductions[] = {
    "sum",
    "mean",
    "amax",
    "amin",
    "argmax",
    "argmin",
    "var",
    "std",
    "norm",
    "var_mean",
    "prod",
    "any",
    "all",
    "logsumexp",
    "nansum",
    "max",
    "min",
    "linalg_vector_norm",
    "_adaptive_avg_pool2d",
    "median",
    "topk",
    "sort",
    "count_nonzero",
    "cumprod",
};

template <std::size_t N>
std::optional<std::string_view> function_in(const Function (&table)[N], std::string_view name) {
    const auto* const found = std::ranges::find(table, name, &Function::op);
    return found == std::end(table) ? std::nullopt : std::optional(found->fn);
}
constexpr std::string_view kViews[] = {
    "view",        "_unsafe_view",  "reshape",      "_reshape_alias", "t",
    "transpose",   "permute",       "movedim",      "expand",         "expand_as",
    "slice",       "select",        "narrow",       "unbind",         "split",
    "chunk",       "unsqueeze",     "squeeze",      "flatten",        "unflatten",
    "detach",      "alias",         "as_strided",   "empty",          "empty_like",
    "resize_",     "empty_strided", "new_empty",    "item",           "result_type",
    "lift_fresh",  "unfold",        "view_as",      "is_nonzero",     "_local_scalar_dense",
    "resolve_neg", "resolve_conj",  "view_as_real", "view_as_complex"};

} // namespace

std::optional<std::string_view> pointwise_function(std::string_view op) {
    return function_in(kFunctions, op);
}

std::optional<std::string_view> gradient_function(std::string_view op) {
    return function_in(kGradients, op);
}

std::optional<std::string_view> gated_function(std::string_view op) {
    return function_in(kGated, op);
}

std::string_view unary_of(std::string_view fn) {
    constexpr Function kUnary[] = {{"add", "addu"},   {"sub", "subu"},  {"mul", "mulu"},
                                   {"div", "divu"},   {"max", "clamp"}, {"min", "clamp"},
                                   {"where", "clamp"}};
    return function_in(kUnary, fn).value_or(fn);
}

bool is_reduction(std::string_view op) {
    return std::ranges::find(kReductions, op) != std::end(kReductions);
}

bool is_view(std::string_view op_name) {
    const std::size_t colon = op_name.rfind("::");
    std::string_view name = colon == std::string_view::npos ? op_name : op_name.substr(colon + 2);
    const auto listed = [&name] { return std::ranges::find(kViews, name) != std::end(kViews); };
    if (!listed() && name.ends_with('_')) {
        name.remove_suffix(1);
    }
    return listed();
}

} // namespace eyeroof::profiles
