// Functions of single elements, casts, quantisation, and the arithmetic of
// sizes.
#include "study/formats/onnx/operators.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::study::onnx {

namespace {

// With a constant that is much smaller than the result one tensor is read: a
// scalar, a bias.
constexpr std::int64_t kSmall = 8;

template <class Function> void fold_unary(Step& step, Function function) {
    if (step.in(0).values && !step.outputs.empty()) {
        step.outputs[0].values = step.in(0).values;
        for (double& value : *step.outputs[0].values) {
            value = function(value);
        }
    }
}

bool is_whole(int element) {
    return (element >= 2 && element <= 7) || element == 12 || element == 13;
}

double binary_value(const std::string& op, double a, double b, bool whole) {
    if (op == "Add" || op == "Sum") {
        return a + b;
    }
    if (op == "Sub") {
        return a - b;
    }
    if (op == "Mul") {
        return a * b;
    }
    if (op == "Div") {
        return b == 0.0 ? 0.0 : whole ? std::trunc(a / b) : a / b;
    }
    if (op == "Mod") {
        return b == 0.0 ? 0.0 : a - b * std::floor(a / b);
    }
    if (op == "Pow") {
        return std::pow(a, b);
    }
    if (op == "Max") {
        return std::max(a, b);
    }
    if (op == "Min") {
        return std::min(a, b);
    }
    return op == "Equal"            ? static_cast<double>(a == b)
           : op == "Greater"        ? static_cast<double>(a > b)
           : op == "GreaterOrEqual" ? static_cast<double>(a >= b)
           : op == "Less"           ? static_cast<double>(a < b)
           : op == "LessOrEqual"    ? static_cast<double>(a <= b)
           : op == "And"            ? static_cast<double>(a != 0.0 && b != 0.0)
           : op == "Or"             ? static_cast<double>(a != 0.0 || b != 0.0)
                                    : std::nan("");
}

// Of vectors and scalars, as sizes are.
void fold_binary(Step& step) {
    const auto& a = step.in(0).values;
    const auto& b = step.in(1).values;
    if (!a || !b || a->empty() || b->empty() || step.outputs.empty() || step.inputs() != 2 ||
        (a->size() != b->size() && a->size() != 1 && b->size() != 1)) {
        return;
    }
    std::vector<double> result(std::max(a->size(), b->size()));
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = binary_value(step.node.op, (*a)[a->size() == 1 ? 0 : i],
                                 (*b)[b->size() == 1 ? 0 : i], is_whole(step.in(0).element));
        if (!std::isfinite(result[i])) {
            return;
        }
    }
    step.outputs[0].values = std::move(result);
}

void unary(Step& step, const char* fn) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.give(*step.in(0).dims);
    step.add_elementwise(fn, step.learned(1, 2));
}

// Sizes of all operands together; nothing where one is not known or they do not
// match.
std::optional<Dims> joint_sizes(const Step& step) {
    std::optional<Dims> all = Dims{};
    for (std::size_t i = 0; i < step.inputs() && all; ++i) {
        all = step.in(i).known() ? broadcast(*all, *step.in(i).dims) : std::nullopt;
    }
    return all;
}

// How many operands are as large as the result, or nearly.
int large_operands(const Step& step, std::int64_t elements) {
    int large = 0;
    for (std::size_t i = 0; i < step.inputs(); ++i) {
        large += step.in(i).elements().value_or(elements) * kSmall > elements ? 1 : 0;
    }
    return large;
}

void several(Step& step, const char* of_two, const char* of_one, int result_element = 0) {
    const auto dims = joint_sizes(step);
    if (!dims || step.inputs() == 0) {
        return step.fail("the sizes of its operands are not known, or do not match");
    }
    step.give(*dims);
    if (result_element != 0 && !step.outputs.empty()) {
        step.outputs[0].element = result_element;
    }
    fold_binary(step);
    const int large =
        large_operands(step, step.outputs.empty() ? 0 : *product(*dims, 0, dims->size()));
    step.add_elementwise(large > 2    ? "add3"
                         : large == 2 ? of_two
                                      : of_one,
                         step.learned_constants());
    if (step.outcome == Outcome::costed && large > 3) {
        step.layers.back().count = large - 2;
    }
}

void where(Step& step) {
    const auto dims = joint_sizes(step);
    if (!dims) {
        return step.fail("the sizes of its operands are not known, or do not match");
    }
    step.give(*dims, 1);
    const auto& c = step.in(0).values;
    const auto& a = step.in(1).values;
    const auto& b = step.in(2).values;
    if (c && a && b && !c->empty() && a->size() == c->size() && b->size() == c->size()) {
        std::vector<double> result(c->size());
        for (std::size_t i = 0; i < c->size(); ++i) {
            result[i] = (*c)[i] != 0.0 ? (*a)[i] : (*b)[i];
        }
        step.outputs[0].values = std::move(result);
    }
    step.add_elementwise("where");
}

void cast(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.outputs[0].element = static_cast<int>(step.integer("to", step.in(1).element));
    step.give(*step.in(0).dims);
    const bool whole = is_whole(step.outputs[0].element) || step.outputs[0].element == kBool;
    fold_unary(step, [&](double v) { return whole ? std::trunc(v) : v; });
    if (step.outputs[0].element == step.in(0).element) {
        step.outcome = Outcome::view;
        return;
    }
    step.add_elementwise("cast");
}

void quantize(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    constexpr int uint8 = 2;
    const int told = static_cast<int>(step.integer("output_dtype", 0));
    step.outputs[0].element = told != 0 ? told : step.has(2) ? step.in(2).element : uint8;
    step.give(*step.in(0).dims);
    if (step.node.op == "DynamicQuantizeLinear") {
        step.outputs[0].element = uint8;
        for (std::size_t i = 1; i < step.outputs.size(); ++i) {
            step.outputs[i].dims = Dims{};
            step.outputs[i].element = i == 1 ? 1 : uint8;
        }
    }
    step.add_elementwise("cast");
}

// Back to real numbers: products take them as they are stored.
void dequantize(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.outputs[0].element = step.in(1).element != 0 ? step.in(1).element : 1;
    step.give(*step.in(0).dims);
    step.outputs[0].stored = step.in(0).element;
    step.outcome = Outcome::view;
}

struct Named {
    std::string_view op;
    const char* fn;
};

// The nearest of eyeroof's functions, by the tensors that are moved and the
// operations.
constexpr Named kUnary[] = {{"Relu", "relu"},
                            {"LeakyRelu", "leaky_relu"},
                            {"PRelu", "leaky_relu"},
                            {"ThresholdedRelu", "relu"},
                            {"Sigmoid", "sigmoid"},
                            {"Tanh", "tanh"},
                            {"HardSigmoid", "hardsigmoid"},
                            {"HardSwish", "hardswish"},
                            {"Elu", "elu"},
                            {"Selu", "elu"},
                            {"Celu", "elu"},
                            {"Gelu", "gelu"},
                            {"FastGelu", "gelu"},
                            {"BiasGelu", "gelu"},
                            {"QuickGelu", "silu"},
                            {"Swish", "silu"},
                            {"Mish", "silu"},
                            {"Erf", "erf"},
                            {"Exp", "exp"},
                            {"Sin", "exp"},
                            {"Cos", "exp"},
                            {"Tan", "exp"},
                            {"Atan", "exp"},
                            {"Log", "log"},
                            {"Reciprocal", "reciprocal"},
                            {"Abs", "abs"},
                            {"Sign", "abs"},
                            {"IsNaN", "abs"},
                            {"IsInf", "abs"},
                            {"Clip", "clamp"},
                            {"Shrink", "clamp"},
                            {"Softplus", "softplus"},
                            {"Softsign", "sigmoid"},
                            {"Not", "neg"},
                            {"BitwiseNot", "neg"},
                            {"LRN", "square"},
                            {"CumSum", "copy"}};

void named_unary(Step& step) {
    for (const Named& named : kUnary) {
        if (named.op == step.node.op) {
            return unary(step, named.fn);
        }
    }
}

// Those that sizes are worked out with.
void folding_unary(Step& step) {
    const std::string& op = step.node.op;
    if (op == "Neg") {
        fold_unary(step, [](double v) { return -v; });
    } else if (op == "Floor") {
        fold_unary(step, [](double v) { return std::floor(v); });
    } else if (op == "Ceil") {
        fold_unary(step, [](double v) { return std::ceil(v); });
    } else if (op == "Round") {
        fold_unary(step, [](double v) { return std::nearbyint(v); });
    } else if (op == "Sqrt") {
        fold_unary(step, [](double v) { return std::sqrt(std::max(v, 0.0)); });
    }
    unary(step, op == "Sqrt" ? "sqrt" : op == "Neg" ? "neg" : "abs");
}

struct NamedPair {
    std::string_view op;
    const char* of_two;
    const char* of_one;
    int element; // of the result; 0: as the operands
};

constexpr NamedPair kSeveral[] = {{"Add", "add", "addu", 0},
                                  {"Sum", "add", "addu", 0},
                                  {"Mean", "add", "addu", 0},
                                  {"Sub", "sub", "subu", 0},
                                  {"Mul", "mul", "mulu", 0},
                                  {"Div", "div", "divu", 0},
                                  {"Mod", "div", "divu", 0},
                                  {"Pow", "pow", "powu", 0},
                                  {"Max", "max", "clamp", 0},
                                  {"Min", "min", "clamp", 0},
                                  {"Equal", "sub", "subu", kBool},
                                  {"Greater", "sub", "subu", kBool},
                                  {"GreaterOrEqual", "sub", "subu", kBool},
                                  {"Less", "sub", "subu", kBool},
                                  {"LessOrEqual", "sub", "subu", kBool},
                                  {"And", "mul", "mulu", kBool},
                                  {"Or", "max", "clamp", kBool},
                                  {"Xor", "sub", "subu", kBool},
                                  {"BitShift", "mul", "mulu", 0},
                                  {"BitwiseAnd", "mul", "mulu", 0},
                                  {"BitwiseOr", "max", "clamp", 0}};

void named_several(Step& step) {
    for (const NamedPair& named : kSeveral) {
        if (named.op == step.node.op) {
            return several(step, named.of_two, named.of_one, named.element);
        }
    }
}

// Quantised: operands stand among their scales and zero points.
void quantised_add(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    const auto dims = step.in(3).known() ? broadcast(*step.in(0).dims, *step.in(3).dims)
                                         : std::optional(*step.in(0).dims);
    if (!dims) {
        return step.fail("the sizes of its operands do not match");
    }
    step.give(*dims);
    step.add_elementwise(step.node.op == "QLinearMul" ? "mul" : "add");
}

} // namespace

void add_elementwise(Handlers& handlers) {
    for (const Named& named : kUnary) {
        handlers[named.op] = named_unary;
    }
    for (const NamedPair& named : kSeveral) {
        handlers[named.op] = named_several;
    }
    for (const char* op : {"Neg", "Floor", "Ceil", "Round", "Sqrt"}) {
        handlers[op] = folding_unary;
    }
    handlers["QLinearAdd"] = handlers["QLinearMul"] = quantised_add;
    handlers["QLinearSigmoid"] =
        handlers["QLinearLeakyRelu"] = [](Step& s) { unary(s, "sigmoid"); };
    handlers["Cast"] = handlers["CastLike"] = cast;
    handlers["QuantizeLinear"] = handlers["DynamicQuantizeLinear"] = quantize;
    handlers["DequantizeLinear"] = dequantize;
    handlers["Where"] = where;
}

} // namespace eyeroof::study::onnx
