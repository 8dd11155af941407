#include "formats/onnx/fold.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

namespace eyeroof::formats::onnx {

namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

bool is_whole(int element) {
    return (element >= kUint8 && element <= kInt64) || element == kUint32 || element == kUint64;
}

const std::map<std::string_view, Unary>& unaries() {
    static const std::map<std::string_view, Unary> all = {
        {"Neg", [](double v) { return -v; }},
        {"Abs", [](double v) { return std::abs(v); }},
        {"Sign", [](double v) { return static_cast<double>((v > 0.0) - (v < 0.0)); }},
        {"Floor", [](double v) { return std::floor(v); }},
        {"Ceil", [](double v) { return std::ceil(v); }},
        {"Round", [](double v) { return std::nearbyint(v); }},
        {"Sqrt", [](double v) { return std::sqrt(v); }},
        {"Exp", [](double v) { return std::exp(v); }},
        {"Log", [](double v) { return std::log(v); }},
        {"Reciprocal", [](double v) { return 1.0 / v; }},
        {"Sin", [](double v) { return std::sin(v); }},
        {"Cos", [](double v) { return std::cos(v); }},
        {"Tan", [](double v) { return std::tan(v); }},
        {"Asin", [](double v) { return std::asin(v); }},
        {"Acos", [](double v) { return std::acos(v); }},
        {"Atan", [](double v) { return std::atan(v); }},
        {"Sinh", [](double v) { return std::sinh(v); }},
        {"Cosh", [](double v) { return std::cosh(v); }},
        {"Asinh", [](double v) { return std::asinh(v); }},
        {"Acosh", [](double v) { return std::acosh(v); }},
        {"Atanh", [](double v) { return std::atanh(v); }},
        {"Softplus", [](double v) { return std::log1p(std::exp(v)); }},
        {"Softsign", [](double v) { return v / (1.0 + std::abs(v)); }},
        {"Tanh", [](double v) { return std::tanh(v); }},
        {"Erf", [](double v) { return std::erf(v); }},
        {"Sigmoid", [](double v) { return 1.0 / (1.0 + std::exp(-v)); }},
        {"Relu", [](double v) { return std::max(v, 0.0); }},
        {"Not", [](double v) { return static_cast<double>(v == 0.0); }},
        {"IsNaN", [](double v) { return static_cast<double>(std::isnan(v)); }},
        {"IsInf", [](double v) { return static_cast<double>(std::isinf(v)); }},
        {"Cast", [](double v) { return v; }},
        {"CastLike", [](double v) { return v; }}};
    return all;
}

double bits_of(double a, double b, int how) {
    const auto x = whole_of(a);
    const auto y = whole_of(b);
    return static_cast<double>(how == 0 ? (x & y) : how == 1 ? (x | y) : (x ^ y));
}

const std::map<std::string_view, Binary>& binaries() {
    static const std::map<std::string_view, Binary> all = {
        {"Add", [](double a, double b) { return a + b; }},
        {"Sum", [](double a, double b) { return a + b; }},
        {"Sub", [](double a, double b) { return a - b; }},
        {"Mul", [](double a, double b) { return a * b; }},
        {"Div", [](double a, double b) { return a / b; }},
        {"Pow", [](double a, double b) { return std::pow(a, b); }},
        {"Max", [](double a, double b) { return std::max(a, b); }},
        {"Min", [](double a, double b) { return std::min(a, b); }},
        {"Equal", [](double a, double b) { return static_cast<double>(a == b); }},
        {"Greater", [](double a, double b) { return static_cast<double>(a > b); }},
        {"GreaterOrEqual", [](double a, double b) { return static_cast<double>(a >= b); }},
        {"Less", [](double a, double b) { return static_cast<double>(a < b); }},
        {"LessOrEqual", [](double a, double b) { return static_cast<double>(a <= b); }},
        {"And", [](double a, double b) { return static_cast<double>(a != 0.0 && b != 0.0); }},
        {"Or", [](double a, double b) { return static_cast<double>(a != 0.0 || b != 0.0); }},
        {"Xor", [](double a, double b) { return static_cast<double>((a != 0.0) != (b != 0.0)); }},
        {"BitwiseAnd", [](double a, double b) { return bits_of(a, b, 0); }},
        {"BitwiseOr", [](double a, double b) { return bits_of(a, b, 1); }},
        {"BitwiseXor", [](double a, double b) { return bits_of(a, b, 2); }}};
    return all;
}

bool is_comparison(std::string_view op) {
    static const std::set<std::string_view> all = {
        "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or",
        "Xor",   "Not",     "IsNaN",          "IsInf"};
    return all.contains(op);
}

// The quotient of whole numbers is cut towards zero; the remainder has the divisor's sign, with
// `fmod` the dividend's (also for real numbers).
Values divided(const Step& step, const std::vector<double>& a, const std::vector<double>& b) {
    const bool whole = is_whole(step.in(0).element);
    const bool fmod = step.integer("fmod", 0) != 0;
    std::vector<double> result(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (b[i] == 0.0 && whole) {
            return std::nullopt;
        }
        if (step.node.op == "Div") {
            result[i] = whole ? std::trunc(a[i] / b[i]) : a[i] / b[i];
        } else {
            result[i] = fmod ? std::fmod(a[i], b[i]) : a[i] - b[i] * std::floor(a[i] / b[i]);
        }
    }
    return result;
}

std::vector<double> spread(const Value& operand, const Dims& result) {
    std::vector<double> values;
    for (const std::size_t at : stretched(result, *operand.dims)) {
        values.push_back((*operand.values)[at]);
    }
    return values;
}

Values fold_pairs(const Step& step, const Dims& result) {
    const std::string& op = step.node.op;
    const auto binary = binaries().find(op);
    if (binary == binaries().end() && op != "Mod" && op != "Mean") {
        return std::nullopt;
    }
    std::vector<double> all = spread(step.in(0), result);
    for (std::size_t i = 1; i < step.inputs(); ++i) {
        const std::vector<double> next = spread(step.in(i), result);
        if (op == "Div" || op == "Mod") {
            return divided(step, all, next);
        }
        const Binary function = op == "Mean" ? binaries().at("Add") : binary->second;
        std::transform(all.begin(), all.end(), next.begin(), all.begin(), function);
    }
    if (op == "Mean") {
        for (double& value : all) {
            value /= static_cast<double>(step.inputs());
        }
    }
    return all;
}

Values fold_where(const Step& step, const Dims& result) {
    const std::vector<double> condition = spread(step.in(0), result);
    std::vector<double> chosen = spread(step.in(1), result);
    const std::vector<double> otherwise = spread(step.in(2), result);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        chosen[i] = condition[i] != 0.0 ? chosen[i] : otherwise[i];
    }
    return chosen;
}

// Bounds are attributes before opset 11, operands since.
Values fold_clip(const Step& step) {
    const auto bound = [&](std::size_t operand, const char* name, double otherwise) {
        return scalar_of(step, operand).value_or(step.real(name, otherwise));
    };
    const double low = bound(1, "min", -std::numeric_limits<double>::infinity());
    const double high = bound(2, "max", std::numeric_limits<double>::infinity());
    std::vector<double> values = *step.in(0).values;
    for (double& value : values) {
        value = std::min(std::max(value, low), high);
    }
    return values;
}

Values fold_elementwise(const Step& step, const Dims& result) {
    const std::string& op = step.node.op;
    if (op == "Clip") {
        return fold_clip(step);
    }
    if (const auto unary = unaries().find(op); unary != unaries().end()) {
        std::vector<double> values = *step.in(0).values;
        std::transform(values.begin(), values.end(), values.begin(), unary->second);
        return values;
    }
    if (op == "Where" && step.inputs() == 3) {
        return fold_where(step, result);
    }
    return fold_pairs(step, result);
}

bool has_values(const Value& value) {
    return value.known() && value.values &&
           static_cast<std::int64_t>(value.values->size()) == value.elements();
}

bool all_known(const Step& step) {
    for (std::size_t i = 0; i < step.inputs(); ++i) {
        if (step.has(i) && !has_values(step.in(i))) {
            return false;
        }
    }
    return step.inputs() > 0 && step.has(0);
}

bool all_at_least_zero(const Step& step) {
    for (std::size_t i = 0; i < step.inputs(); ++i) {
        const auto& values = step.in(i).values;
        if (values &&
            std::any_of(values->begin(), values->end(), [](double v) { return v < 0.0; })) {
            return false;
        }
    }
    return true;
}

// Whether upper bounds among the operands' values give upper bounds of the result's.
bool keeps_bounds(const Step& step) {
    static const std::set<std::string_view> in_all = {"Add",  "Sum",   "Max",      "Min",   "Floor",
                                                      "Ceil", "Round", "Cast",     "Relu",  "Sqrt",
                                                      "Mean", "Clip",  "CastLike", "Concat"};
    static const std::set<std::string_view> in_first = {
        "Sub",        "Gather",    "GatherElements", "Slice",     "Split",
        "Reshape",    "Expand",    "Tile",           "Squeeze",   "Unsqueeze",
        "Identity",   "Transpose", "Flatten",        "ReduceMax", "ReduceMin",
        "ReduceMean", "Div",       "Dropout",        "ReduceSum", "ReduceProd"};
    const std::string& op = step.node.op;
    if (in_all.contains(op)) {
        return true;
    }
    if (op == "Mul") {
        return all_at_least_zero(step);
    }
    if (op == "Where") {
        return !step.in(0).bounds;
    }
    bool first_only = true;
    for (std::size_t i = 1; i < step.inputs(); ++i) {
        first_only = first_only && !step.in(i).bounds;
    }
    const bool grows = (op != "Div" && op != "ReduceProd") || all_at_least_zero(step);
    return first_only && grows && in_first.contains(op);
}

// Whether the result's sizes are values of an operand that are upper bounds.
bool takes_bounded_sizes(const Step& step) {
    static const std::set<std::string_view> behind_first = {
        "Reshape", "Expand",    "Slice",         "Tile",     "Pad",        "TopK",
        "Resize",  "OneHot",    "Split",         "Upsample", "AffineGrid", "NonMaxSuppression",
        "Col2Im",  "MaxUnpool", "CenterCropPad", "Range"};
    const std::string& op = step.node.op;
    for (std::size_t i = 1; i < step.inputs(); ++i) {
        if (step.in(i).bounds && behind_first.contains(op)) {
            return true;
        }
    }
    return step.in(0).bounds && (op == "ConstantOfShape" || op == "Range");
}

// Whether a comparison with a size that is at most `bound`, and at least 0, has the same answer
// whatever the size is.
std::optional<bool> decided(std::string_view op, double bound, double other) {
    if (op == "Equal") {
        return other < 0.0 || other > bound ? std::optional(false) : std::nullopt;
    }
    if (op == "Less") {
        return bound < other  ? std::optional(true)
               : other <= 0.0 ? std::optional(false)
                              : std::nullopt;
    }
    if (op == "LessOrEqual") {
        return bound <= other ? std::optional(true)
               : other < 0.0  ? std::optional(false)
                              : std::nullopt;
    }
    if (op == "Greater") {
        return bound <= other ? std::optional(false)
               : other < 0.0  ? std::optional(true)
                              : std::nullopt;
    }
    if (op == "GreaterOrEqual") {
        return bound < other  ? std::optional(false)
               : other <= 0.0 ? std::optional(true)
                              : std::nullopt;
    }
    return std::nullopt;
}

// Values of a comparison that are the same for every size up to the bound.
Values fold_decided(const Step& step) {
    if (step.inputs() != 2 || !all_known(step) || step.in(0).bounds == step.in(1).bounds) {
        return std::nullopt;
    }
    static const std::map<std::string_view, std::string_view> turned = {
        {"Equal", "Equal"},
        {"Less", "Greater"},
        {"LessOrEqual", "GreaterOrEqual"},
        {"Greater", "Less"},
        {"GreaterOrEqual", "LessOrEqual"}};
    const auto found = turned.find(step.node.op);
    if (found == turned.end()) {
        return std::nullopt;
    }
    const bool first = step.in(0).bounds;
    const Dims& result = *step.outputs.front().dims;
    const std::vector<double> bound = spread(step.in(first ? 0 : 1), result);
    const std::vector<double> other = spread(step.in(first ? 1 : 0), result);
    std::vector<double> values;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const auto truth = decided(first ? found->first : found->second, bound[i], other[i]);
        if (!truth) {
            return std::nullopt;
        }
        values.push_back(static_cast<double>(*truth));
    }
    return values;
}

void keep(Value& output, Values values) {
    if (!values || std::any_of(values->begin(), values->end(), [](double v) { return v != v; })) {
        return;
    }
    for (double& value : *values) {
        value = as_element(value, output.element);
    }
    output.values = std::move(values);
}

void fold_first(Step& step) {
    Value& output = step.outputs.front();
    const auto elements = output.elements();
    const bool few = elements && *elements <= static_cast<std::int64_t>(kMostKept);
    if (output.values || !few || step.layers.size() > 1 || !all_known(step)) {
        return;
    }
    if (is_comparison(step.node.op)) {
        output.element = kBool;
    }
    Values values = fold_structure(step);
    values = values ? std::move(values) : fold_reduction(step);
    values = values ? std::move(values) : fold_elementwise(step, *output.dims);
    if (values && static_cast<std::int64_t>(values->size()) == *elements) {
        keep(output, std::move(values));
    }
}

} // namespace

double as_element(double value, int element) {
    if (element == kFloat || element == kHalf || element == kBfloat16) {
        return static_cast<double>(static_cast<float>(value));
    }
    if (element == kBool) {
        return static_cast<double>(value != 0.0);
    }
    return is_whole(element) ? std::trunc(value) : value;
}

std::int64_t whole_of(double value) {
    constexpr double beyond = 9223372036854775808.0; // 2^63
    if (value >= beyond || value < -beyond) {
        return value > 0.0 ? std::numeric_limits<std::int64_t>::max()
                           : std::numeric_limits<std::int64_t>::min();
    }
    return value == value ? static_cast<std::int64_t>(value) : 0;
}

std::optional<double> scalar_of(const Step& step, std::size_t operand) {
    const auto& values = step.in(operand).values;
    return step.has(operand) && values && values->size() == 1 ? std::optional(values->front())
                                                              : std::nullopt;
}

std::vector<std::size_t> stretched(const Dims& result, const Dims& operand) {
    const auto all = static_cast<std::size_t>(product(result, 0, result.size()).value_or(0));
    Dims strides(result.size(), 0);
    std::int64_t stride = 1;
    for (std::size_t i = 1; i <= std::min(operand.size(), result.size()); ++i) {
        const std::int64_t size = operand[operand.size() - i];
        strides[result.size() - i] = size == 1 ? 0 : stride;
        stride *= size;
    }
    std::vector<std::size_t> places(all, 0);
    for (std::size_t i = 0; i < all; ++i) {
        auto rest = static_cast<std::int64_t>(i);
        std::int64_t at = 0;
        for (std::size_t axis = result.size(); axis-- > 0;) {
            at += rest % result[axis] * strides[axis];
            rest /= result[axis];
        }
        places[i] = static_cast<std::size_t>(at);
    }
    return places;
}

void fold(Step& step) {
    if (step.outcome == Outcome::unknown || step.outputs.empty()) {
        return;
    }
    fold_first(step);
    const bool sizes = step.at_most() || takes_bounded_sizes(step);
    const bool of_sizes = step.node.op == "Shape" || step.node.op == "Size";
    const Values same = step.bounds() ? fold_decided(step) : std::nullopt;
    const bool keeps = of_sizes || !step.bounds() || keeps_bounds(step);
    for (Value& output : step.outputs) {
        output.at_most = output.at_most || (sizes && !of_sizes);
        output.bounds = of_sizes ? step.at_most() : step.bounds() && keeps;
        if (!keeps || output.at_most) {
            output.values.reset();
            output.bounds = false;
        }
    }
    if (same && !step.outputs.front().at_most) {
        step.outputs.front().values = same;
    }
}

} // namespace eyeroof::formats::onnx
