// Convolutions and matrix products, plain and quantised.
#include "base/checked.hpp"
#include "formats/onnx/operators.hpp"
#include "formats/onnx/windows.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

using model::GemmShape;
using model::Op;

// Which operands are the data, the weights and the bias.
struct Places {
    std::size_t data = 0, weights = 1, bias = 2;
};

model::ConvShape conv_shape(const Image& image, std::int64_t n, std::int64_t c, std::int64_t k,
                            std::int64_t groups) {
    model::ConvShape shape;
    shape.n = n * image.images;
    shape.c = c * image.taps;
    shape.k = k;
    shape.h = image.h;
    shape.w = image.w;
    shape.r = image.r;
    shape.s = image.s;
    shape.stride = image.stride;
    shape.pad = image.pad;
    shape.dilation = image.dilation;
    shape.groups = groups;
    return shape;
}

// The operands of quantised operators stand among their scales; products of
// whole numbers without a scale give 32 bits.
void place_types(Step& step, const Places& places) {
    model::TensorTypes& types = step.layers.back().types;
    if (places.weights != 1) {
        types.weight = data_type_of(step.in(places.weights).element);
    }
    if (step.node.op == "MatMulInteger" || step.node.op == "ConvInteger") {
        constexpr int int32 = 6;
        step.outputs[0].element = int32;
        types.output = model::DataType::int32;
    }
}

std::int64_t learned_of(Step& step, const Places& places) {
    return step.learned(places.weights, places.weights + 1) +
           step.learned(places.bias, places.bias + 1);
}

// Channels behind the image's axes, as [n, c, h, w].
Dims channels_first(Dims dims) {
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
    return dims;
}

// Where the channels of the data stand, and of the weights.
enum class Channels { first, last, blocked };

// Weights [k, c, r, s], or with channels last [k, r, s, c]: as the channels of the data fit.
Dims weight_sizes(const Dims& w, Channels channels, std::int64_t of_group) {
    return channels == Channels::last && w[1] != of_group && w.back() == of_group
               ? channels_first(w)
               : w;
}

// Channels in blocks are padded to whole ones: those of the weights are the ones that are computed.
std::int64_t padded_channels(std::int64_t data, std::int64_t weights) {
    constexpr std::int64_t kMostBlock = 64;
    return weights > data && weights - data < kMostBlock ? weights : data;
}

void convolution(Step& step, const Places& places, bool transposed,
                 Channels channels = Channels::first) {
    const bool sized = step.in(places.data).known() && step.in(places.weights).known();
    if (!sized || step.in(places.data).rank() < 3 ||
        step.in(places.data).rank() != step.in(places.weights).rank()) {
        return step.fail("the sizes of its input or weights are not known");
    }
    const bool last = channels == Channels::last;
    const std::int64_t groups = step.integer("group", 1);
    Dims x = *step.in(places.data).dims;
    x = last ? channels_first(x) : x;
    const Dims w =
        weight_sizes(*step.in(places.weights).dims, channels, groups > 0 ? x[1] / groups : 0);
    const Dims spatial(x.begin() + 2, x.end());
    const Dims kernel(w.begin() + 2, w.end());
    const auto windows = transposed ? transposed_windows_of(step, spatial, kernel)
                                    : windows_of(step, spatial, kernel);
    const auto image = windows ? image_of(*windows) : std::nullopt;
    const auto grouped = checked_mul(w[1], groups);
    if (!image || groups < 1 || !grouped) {
        return step.fail("its window, groups or channels make no sense");
    }
    const std::int64_t outputs = transposed ? *grouped : w[0];
    const std::int64_t inputs = transposed ? w[0] : *grouped;
    x[1] = channels == Channels::blocked ? padded_channels(x[1], inputs) : x[1];
    if (inputs != x[1]) {
        return step.fail("its window, groups or channels make no sense");
    }
    Dims result = {x[0], outputs};
    for (const Window& window : *windows) {
        result.push_back(transposed ? window.size : window.outputs);
    }
    if (last) {
        std::rotate(result.begin() + 1, result.begin() + 2, result.end());
    }
    step.give(result, places.data);
    const std::int64_t n = x[0];
    step.add(Op::conv2d,
             transposed ? conv_shape(image.value_or(Image{}), n, outputs, inputs, groups)
                        : conv_shape(image.value_or(Image{}), n, inputs, outputs, groups),
             learned_of(step, places));
    step.layers.back().direction = transposed ? model::Direction::bwd_data : model::Direction::fwd;
    place_types(step, places);
}

// [... m k] x [... k n]; weights that all of the first one's matrices share are
// one product.
void matrix_product(Step& step, const Dims& a, const Dims& b, const Places& places,
                    std::int64_t parameters) {
    const std::int64_t m = a[a.size() - 2];
    const std::int64_t k = a[a.size() - 1];
    const std::int64_t n = b[b.size() - 1];
    const auto batch = broadcast(Dims(a.begin(), a.end() - 2), Dims(b.begin(), b.end() - 2));
    const auto matrices = batch ? product(*batch, 0, batch->size()) : std::nullopt;
    if (!matrices || b[b.size() - 2] != k) {
        return step.fail("the sizes of its operands do not match");
    }
    Dims result = *batch;
    result.insert(result.end(), {m, n});
    step.give(result, places.data);
    const auto shared = product(b, 0, b.size() - 2);
    const auto rows = checked_mul(*matrices, m);
    const Value& second = step.in(places.weights);
    const bool is_data = second.origin == Origin::data && second.made_of.empty();
    if (shared && *shared == 1 && rows && (!is_data || *matrices == 1)) {
        step.add(is_data ? Op::bmm : Op::gemm, GemmShape{1, *rows, n, k}, parameters);
    } else {
        step.add(Op::bmm, GemmShape{*matrices, m, n, k}, parameters);
    }
    place_types(step, places);
}

void mat_mul(Step& step, const Places& places) {
    const Value& a = step.in(places.data);
    const Value& b = step.in(places.weights);
    if (!a.known() || !b.known() || a.rank() < 1 || b.rank() < 1) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims left = *a.dims;
    Dims right = *b.dims;
    if (a.rank() == 1) {
        left.insert(left.begin(), 1);
    }
    if (b.rank() == 1) {
        right.push_back(1);
    }
    matrix_product(step, left, right, places,
                   step.learned(places.data, places.data + 1) + learned_of(step, places));
    if (step.outcome == Outcome::costed && !step.outputs.empty()) {
        Dims& result = *step.outputs[0].dims;
        if (a.rank() == 1) {
            result.erase(result.end() - 2);
        }
        if (b.rank() == 1) {
            result.pop_back();
        }
    }
}

void gemm(Step& step, const Places& places) {
    const Value& a = step.in(places.data);
    const Value& b = step.in(places.weights);
    if (a.rank() != 2 || b.rank() != 2) {
        return step.fail("its operands are no matrices of known sizes");
    }
    Dims left = *a.dims;
    Dims right = *b.dims;
    if (step.integer("transA", 0) != 0) {
        std::swap(left[0], left[1]);
    }
    if (step.integer("transB", 0) != 0) {
        std::swap(right[0], right[1]);
    }
    matrix_product(step, left, right, places, learned_of(step, places));
}

// com.microsoft: A and B may be turned; B may be packed in few bits.
void fused_mat_mul(Step& step) {
    const Value& a = step.in(0);
    const Value& b = step.in(1);
    if (a.rank() < 2 || b.rank() < 2) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims left = *a.dims;
    Dims right = *b.dims;
    if (step.integer("transA", 0) != 0) {
        std::swap(left[left.size() - 1], left[left.size() - 2]);
    }
    if (step.integer("transB", 0) != 0) {
        std::swap(right[right.size() - 1], right[right.size() - 2]);
    }
    matrix_product(step, left, right, {}, step.learned(1, 2));
}

void mat_mul_n_bits(Step& step) {
    const Value& a = step.in(0);
    const std::int64_t k = step.integer("K", 0);
    const std::int64_t n = step.integer("N", 0);
    if (a.rank() < 1 || k < 1 || n < 1) {
        return step.fail("its sizes are not known");
    }
    Dims left = *a.dims;
    if (left.size() == 1) {
        left.insert(left.begin(), 1);
    }
    const bool learns = step.learned(1, 2) > 0;
    matrix_product(step, left, {k, n}, {}, learns ? checked_mul(k, n).value_or(0) : 0);
    if (step.outcome == Outcome::costed) {
        const bool wide = step.node.op == "MatMulNBits" && step.integer("bits", 4) > 4;
        step.layers.back().op = Op::gemm;
        step.layers.back().types.weight = wide ? model::DataType::int8 : model::DataType::int4;
    }
}

// "bij,bjk->bik": the sizes of the labels; nothing where they contradict each
// other.
std::optional<std::map<char, std::int64_t>> label_sizes(const Step& step,
                                                        const std::vector<std::string>& terms) {
    std::map<char, std::int64_t> sizes;
    for (std::size_t i = 0; i < terms.size(); ++i) {
        const Value& value = step.in(i);
        if (!value.known() || value.dims->size() != terms[i].size()) {
            return std::nullopt;
        }
        for (std::size_t j = 0; j < terms[i].size(); ++j) {
            const auto [at, fresh] = sizes.emplace(terms[i][j], (*value.dims)[j]);
            if (!fresh && at->second == 1) {
                at->second = (*value.dims)[j]; // axes behind dots are stretched
            }
            if (!fresh && at->second != (*value.dims)[j] && (*value.dims)[j] != 1) {
                return std::nullopt;
            }
        }
    }
    return sizes;
}

struct Equation {
    std::vector<std::string> terms;
    std::string result;
};

// "..." stands for axes that need no labels: as many digits as its operand has more axes, the last
// ones for the last axes. Nothing where an operand has too few axes.
std::optional<std::string> without_dots(const Step& step, const std::string& text) {
    constexpr std::string_view digits = "0123456789";
    const std::size_t arrow = text.find("->");
    std::string result;
    std::size_t most = 0; // axes that any operand's dots stand for
    std::size_t operand = 0;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find_first_of(",-", at), text.size());
        std::string term = text.substr(at, end - at);
        const bool is_result = arrow != std::string::npos && at > arrow;
        if (const std::size_t dots = term.find("..."); dots != std::string::npos) {
            const auto rank = static_cast<std::size_t>(step.in(operand).rank());
            const std::size_t own = term.size() - 3;
            const std::size_t axes = is_result ? most : rank - own;
            if ((!is_result && rank < own) || axes > digits.size()) {
                return std::nullopt;
            }
            most = std::max(most, axes);
            term.replace(dots, 3, digits.substr(digits.size() - axes));
        }
        const std::size_t next = text[end] == '-' ? 2 : 1;
        result += term + text.substr(end, end < text.size() ? next : 0);
        at = end + (end < text.size() ? next : 1);
        ++operand;
    }
    return result;
}

// A result that is not written has the labels that stand once, in their order.
std::optional<Equation> equation_of(const Step& step, std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    const auto plain = without_dots(step, text);
    if (!plain) {
        return std::nullopt;
    }
    text = *plain;
    const std::size_t arrow = text.find("->");
    Equation equation;
    std::string term;
    for (const char c : text.substr(0, arrow) + ",") {
        if (c == ',') {
            equation.terms.push_back(std::move(term));
            term.clear();
        } else {
            term += c;
        }
    }
    if (arrow != std::string::npos) {
        equation.result = text.substr(arrow + 2);
        return equation;
    }
    for (char c = '0'; c <= 'z'; ++c) {
        const auto times = std::count(text.begin(), text.end(), c);
        equation.result += times == 1 ? std::string(1, c) : std::string();
    }
    return equation;
}

bool holds(const std::string& term, char label) {
    return term.find(label) != std::string::npos;
}

// Labels of both that are kept are a batch, of one m or n, and the others are summed. Nothing where
// a size is too large.
std::optional<GemmShape> product_of(const std::string& left, const std::string& right,
                                    const std::string& kept,
                                    const std::map<char, std::int64_t>& sizes) {
    GemmShape shape;
    for (const auto& [label, size] : sizes) {
        const bool first = holds(left, label);
        const bool second = holds(right, label);
        if (!first && !second) {
            continue;
        }
        Count& along = !holds(kept, label) ? shape.k
                       : first && second   ? shape.batch
                       : first             ? shape.m
                                           : shape.n;
        const auto grown = checked_mul(along, size);
        if (!grown || *grown > model::kMaxDimension) {
            return std::nullopt;
        }
        along = *grown;
    }
    return shape;
}

void einsum(Step& step) {
    const auto equation = equation_of(step, step.text("equation", ""));
    const auto sizes = equation && equation->terms.size() == step.inputs()
                           ? label_sizes(step, equation->terms)
                           : std::nullopt;
    if (!sizes) {
        return step.fail("its equation or sizes are not understood");
    }
    Dims result;
    for (const char label : equation->result) {
        if (!sizes->contains(label)) {
            return step.fail("its equation is not understood");
        }
        result.push_back(sizes->at(label));
    }
    step.give(result);
    const std::vector<std::string>& terms = equation->terms;
    if (terms.size() == 1) {
        return step.add_elementwise("copy");
    }
    // Pair by pair from the left, as onnxruntime computes it.
    std::map<char, std::size_t> last_use; // operand that has the label
    for (std::size_t i = 0; i < terms.size(); ++i) {
        for (const char label : terms[i]) {
            last_use[label] = i;
        }
    }
    std::vector<GemmShape> products;
    std::string left = terms[0];
    for (std::size_t i = 1; i < terms.size(); ++i) {
        std::string kept;
        for (const auto& [label, size] : *sizes) {
            const bool here = holds(left, label) || holds(terms[i], label);
            if (here && (last_use[label] > i || holds(equation->result, label))) {
                kept += label;
            }
        }
        const auto product = product_of(left, terms[i], kept, *sizes);
        if (!product) {
            return step.fail("its sizes are too large");
        }
        products.push_back(*product);
        left = std::move(kept);
    }
    for (std::size_t i = 0; i < products.size(); ++i) {
        const bool weights = step.in(i + 1).origin == Origin::constant && products[i].batch == 1;
        const bool last = i + 1 == products.size();
        step.add(weights ? Op::gemm : Op::bmm, products[i],
                 step.learned(i + 1, i + 2) + (i == 0 ? step.learned(0, 1) : 0),
                 last ? "" : "." + std::to_string(i + 1));
    }
}

// A convolution whose taps are looked up at offsets, with X, W, offsets, B and a mask.
void deformable(Step& step) {
    convolution(step, {0, 1, 3}, false);
    if (step.outcome != Outcome::costed) {
        return;
    }
    const Dims& w = *step.in(1).dims;
    const Dims& y = *step.outputs.front().dims;
    const auto taps = product(w, 2, w.size());
    const auto places = product(y, 2, y.size());
    const std::int64_t channels = (*step.in(0).dims)[1];
    if (taps && places) {
        step.add(Op::elementwise, model::ElementwiseShape{y[0] * channels * *taps, *places, "copy"},
                 0, ".sampled");
    }
}

// Each channel by itself over the words up to this one, [batch, channels, words]; the last words
// are kept for the next run.
void causal_convolution(Step& step) {
    const Value& x = step.in(0);
    const Value& w = step.in(1);
    if (x.rank() != 3 || w.rank() != 3 || (*x.dims)[1] != (*w.dims)[0] || (*w.dims)[2] < 1) {
        return step.fail("the sizes of its input or weights are not known, or do not match");
    }
    const Dims& d = *x.dims;
    const std::int64_t taps = (*w.dims)[2];
    step.give(d);
    if (step.outputs.size() > 1) {
        step.outputs[1].dims = Dims{d[0], d[1], taps - 1};
        step.outputs[1].element = x.element;
    }
    model::ConvShape shape;
    shape.n = d[0];
    shape.c = shape.k = shape.groups = d[1];
    shape.h = d[2] + taps - 1;
    shape.r = taps;
    step.add(Op::conv2d, shape, step.learned(1, 3));
}

} // namespace

void add_products(Handlers& handlers) {
    handlers["Conv"] = [](Step& s) { convolution(s, {0, 1, 2}, false); };
    handlers["FusedConv"] = handlers["Conv"];
    handlers["ConvTranspose"] = [](Step& s) { convolution(s, {0, 1, 2}, true); };
    handlers["ConvInteger"] = [](Step& s) { convolution(s, {0, 1, 9}, false); };
    handlers["QLinearConv"] = [](Step& s) {
        const bool last = s.integer("channels_last", 0) != 0;
        convolution(s, {0, 3, 8}, false, last ? Channels::last : Channels::first);
    };
    handlers["com.microsoft.NhwcConv"] = [](Step& s) {
        convolution(s, {0, 1, 2}, false, Channels::last);
    };
    handlers["com.microsoft.NhwcFusedConv"] = handlers["com.microsoft.NhwcConv"];
    handlers["com.ms.internal.nhwc.Conv"] = handlers["com.microsoft.NhwcConv"];
    handlers["com.ms.internal.nhwc.FusedConv"] = handlers["com.microsoft.NhwcConv"];
    handlers["com.microsoft.nchwc.Conv"] = [](Step& s) {
        convolution(s, {0, 1, 2}, false, Channels::blocked);
    };
    handlers["CausalConvWithState"] = causal_convolution;
    handlers["Gemm"] = [](Step& s) { gemm(s, {0, 1, 2}); };
    handlers["QGemm"] = [](Step& s) { gemm(s, {0, 3, 6}); };
    handlers["MatMul"] = [](Step& s) { mat_mul(s, {0, 1, 9}); };
    handlers["MatMulInteger"] = handlers["MatMul"];
    handlers["QLinearMatMul"] = [](Step& s) { mat_mul(s, {0, 3, 9}); };
    handlers["MatMulIntegerToFloat"] = handlers["MatMul"];
    handlers["DynamicQuantizeMatMul"] = handlers["MatMul"];
    handlers["FusedMatMul"] = fused_mat_mul;
    handlers["TransposeMatMul"] = fused_mat_mul;
    handlers["MatMulNBits"] = handlers["MatMulBnb4"] = mat_mul_n_bits;
    handlers["FusedGemm"] = handlers["Gemm"];
    handlers["DeformConv"] = deformable;
    handlers["Einsum"] = einsum;
}

} // namespace eyeroof::formats::onnx
