// Functions of single elements, casts, quantization.
#include "formats/onnx/operators.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

// With a constant that is much smaller than the result one tensor is read: a
// scalar, a bias.
constexpr std::int64_t kSmall = 8;

void unary(Step& step, const char* fn) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    const std::string& op = step.node.op;
    const bool learns = op == "PRelu" || op == "BiasGelu" || op == "FastGelu";
    step.give(*step.in(0).dims);
    step.add_elementwise(fn, learns ? step.learned(1, 2) : 0);
}

// A gate and what it gates.
void gated(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.give(*step.in(0).dims);
    step.add_elementwise("swiglu");
}

// Sizes of all operands together; nothing where one is not known or they do not
// match.
std::optional<Dims> joint_sizes(const Step& step) {
    Value all;
    all.dims = Dims{};
    for (std::size_t i = 0; i < step.inputs() && all.dims; ++i) {
        all.dims = broadcast(all, step.in(i));
        all.at_most = all.at_most || step.in(i).at_most;
    }
    return all.dims;
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
    step.add_elementwise("where");
}

void cast(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.outputs[0].element = static_cast<int>(step.integer("to", step.in(1).element));
    step.give(*step.in(0).dims);
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
                            {"Neg", "neg"},
                            {"Floor", "abs"},
                            {"Ceil", "abs"},
                            {"Round", "abs"},
                            {"Sqrt", "sqrt"},
                            {"Asin", "exp"},
                            {"Acos", "exp"},
                            {"Sinh", "exp"},
                            {"Cosh", "exp"},
                            {"Asinh", "log"},
                            {"Acosh", "log"},
                            {"Atanh", "log"},
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
                            {"CumSum", "copy"},
                            {"CumProd", "copy"}};

void named_unary(Step& step) {
    for (const Named& named : kUnary) {
        if (named.op == step.node.op) {
            return unary(step, named.fn);
        }
    }
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
                                  {"BitwiseOr", "max", "clamp", 0},
                                  {"BitwiseXor", "sub", "subu", 0}};

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
    handlers["QLinearAdd"] = handlers["QLinearMul"] = quantised_add;
    handlers["QLinearSigmoid"] =
        handlers["QLinearLeakyRelu"] = [](Step& s) { unary(s, "sigmoid"); };
    handlers["Cast"] = handlers["CastLike"] = cast;
    handlers["QuantizeLinear"] = handlers["DynamicQuantizeLinear"] = quantize;
    handlers["DequantizeLinear"] = dequantize;
    handlers["Where"] = where;
    handlers["SwiGLU"] = gated;
}

} // namespace eyeroof::formats::onnx
