#include "profiles/operator_work.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace eyeroof::profiles {

namespace {

using Dims = std::vector<std::int64_t>;

struct NamedType {
    std::string_view name;
    model::DataType type;
};
constexpr NamedType kTypes[] = {
    {"double", model::DataType::fp64},
    {"float64", model::DataType::fp64},
    {"float", model::DataType::fp32},
    {"float32", model::DataType::fp32},
    {"c10::Half", model::DataType::fp16},
    {"float16", model::DataType::fp16},
    {"c10::BFloat16", model::DataType::bf16},
    {"bfloat16", model::DataType::bf16},
    {"c10::Float8_e4m3fn", model::DataType::fp8},
    {"c10::Float8_e5m2", model::DataType::fp8},
    {"signed char", model::DataType::int8},
    {"int", model::DataType::int32},
};

// Which arguments of an operator are the operands, and where a convolution keeps its settings.
struct Pattern {
    std::string_view name;
    bool conv;
    std::size_t left, right;           // gemm: A and B; conv: input and weight
    std::size_t stride, pad, dilation; // conv only: position among the concrete inputs
    std::size_t transposed = 0;        // 0: the operator has no such argument
    model::Direction direction = model::Direction::fwd;
    std::size_t mask = 0; // output_mask of a backward operator
};
constexpr Pattern kPatterns[] = {
    {"linear", false, 0, 1, 0, 0, 0},
    {"mm", false, 0, 1, 0, 0, 0},
    {"gemm", false, 0, 1, 0, 0, 0},
    {"bmm", false, 0, 1, 0, 0, 0},
    {"matmul", false, 0, 1, 0, 0, 0},
    {"addmm", false, 1, 2, 0, 0, 0},
    {"_addmm_activation", false, 1, 2, 0, 0, 0},
    {"baddbmm", false, 1, 2, 0, 0, 0},
    {"conv2d", true, 0, 1, 3, 4, 5},
    {"conv1d", true, 0, 1, 3, 4, 5},
    {"convolution", true, 0, 1, 3, 4, 5, 6},
    {"_convolution", true, 0, 1, 3, 4, 5, 6},
    {"cudnn_convolution", true, 0, 1, 3, 2, 4},
    {"mkldnn_convolution", true, 0, 1, 4, 3, 5},
    {"miopen_convolution", true, 0, 1, 4, 3, 5},
    {"cudnn_convolution_relu", true, 0, 1, 3, 4, 5},
    {"_conv_depthwise2d", true, 0, 1, 4, 5, 6},
    {"slow_conv_dilated2d", true, 0, 1, 4, 5, 6},
    {"slow_conv_dilated3d", true, 0, 1, 4, 5, 6},
    {"_slow_conv2d_forward", true, 0, 1, 4, 5, 7}, // has no dilation
    {"thnn_conv2d", true, 0, 1, 4, 5, 7},
    {"_mixed_dtypes_linear", false, 0, 1, 0, 0, 0},
    {"_scaled_mm", false, 0, 1, 0, 0, 0},
    {"_int_mm", false, 0, 1, 0, 0, 0},
    {"mv", false, 0, 1, 0, 0, 0},
    {"dot", false, 0, 1, 0, 0, 0},
    {"vdot", false, 0, 1, 0, 0, 0},
    {"addmv", false, 1, 2, 0, 0, 0},
    {"addbmm", false, 1, 2, 0, 0, 0},
    {"conv3d", true, 0, 1, 3, 4, 5},
    {"ConvBias", true, 0, 1, 4, 3, 7}, // of Apex, and have no dilation
    {"ConvBiasReLU", true, 0, 1, 4, 3, 7},
    {"ConvBiasMaskReLU", true, 0, 1, 5, 4, 7},
    {"causal_conv1d_fwd", true, 0, 1, 20, 20, 20}, // of state space models: no settings
    {"_causal_conv1d_fwd_cpp", true, 0, 1, 20, 20, 20},
    {"convolution_backward", true, 1, 2, 4, 5, 6, 7, model::Direction::bwd_weight, 10},
};

std::string_view bare_name(std::string_view name) {
    const std::size_t colon = name.rfind("::");
    name = colon == std::string_view::npos ? name : name.substr(colon + 2);
    return name.size() > 1 && name.ends_with('_') && !name.ends_with("__")
               ? name.substr(0, name.size() - 1) // in place
               : name;
}

const Pattern* pattern_of(std::string_view name) {
    const auto it = std::ranges::find(kPatterns, bare_name(name), &Pattern::name);
    return it == std::end(kPatterns) ? nullptr : &*it;
}

bool sane(const Dims& dims) {
    return std::ranges::all_of(dims, [](Count d) { return d >= 1 && d <= model::kMaxDimension; });
}

// Product of dims[0 … end); nullopt when it is no longer a dimension.
std::optional<Count> product(const Dims& dims, std::size_t end) {
    Count result = 1;
    for (std::size_t i = 0; i < end; ++i) {
        const auto next = checked_mul(result, dims[i]);
        if (!next || *next > model::kMaxDimension) {
            return std::nullopt;
        }
        result = *next;
    }
    return result;
}

// Leading dimensions of a batch, where each is that of one operand or of both.
std::optional<Count> broadcast_batch(const Dims& a, const Dims& b) {
    Dims batch;
    const std::size_t most = std::max(a.size(), b.size()) - 2;
    for (std::size_t back = most; back > 0; --back) {
        const auto at = [back](const Dims& dims) {
            const std::size_t behind = back + 2;
            return dims.size() >= behind ? dims[dims.size() - behind] : 1;
        };
        if (at(a) != at(b) && at(a) != 1 && at(b) != 1) {
            return std::nullopt;
        }
        batch.push_back(std::max(at(a), at(b)));
    }
    return product(batch, batch.size());
}

// [.., m, k] x [k, n], or x [.., k, n]: a batch. A vector is a matrix of one column.
std::optional<model::GemmShape> gemm_shape(const Dims& a, Dims b, bool transposed_b,
                                           bool& batched) {
    if (a.empty() || b.empty() || !sane(a) || !sane(b)) {
        return std::nullopt;
    }
    if (b.size() == 1) {
        b.insert(transposed_b ? b.begin() : b.end(), 1);
    }
    if (transposed_b) {
        std::swap(b[b.size() - 1], b[b.size() - 2]);
    }
    const Count k = a.back();
    if (b[b.size() - 2] != k) {
        return std::nullopt;
    }
    batched = b.size() > 2;
    if (batched && a.size() < 2) {
        return std::nullopt;
    }
    const auto rows = batched ? broadcast_batch(a, b) : product(a, a.size() - 1);
    if (!rows) {
        return std::nullopt;
    }
    return batched ? model::GemmShape{*rows, a[a.size() - 2], b.back(), k}
                   : model::GemmShape{1, *rows, b.back(), k};
}

// "[2, 2]" or "2" -> {2, 2}. nullopt for anything else.
std::optional<model::Extent2> extent(const Operator& op, std::size_t index) {
    if (index >= op.concrete_inputs.size()) {
        return std::nullopt;
    }
    const bool three = std::ranges::count(op.concrete_inputs[index], ',') == 2;
    std::array<Count, 3> numbers{};
    std::size_t found = 0;
    const std::string& text = op.concrete_inputs[index];
    for (const char* at = text.data(); at != text.data() + text.size() && found < 3;) {
        const auto [end, error] = std::from_chars(at, text.data() + text.size(), numbers[found]);
        if (error == std::errc{}) {
            ++found;
            at = end;
        } else {
            ++at;
        }
    }
    if (found == 0) {
        return std::nullopt;
    }
    if (three) { // depth, height, width
        return model::Extent2{numbers[1], numbers[2]};
    }
    return model::Extent2{numbers[0], found >= 2 ? numbers[1] : numbers[0]};
}

// Every number of "[1, 2, 2]".
std::vector<Count> extents(const Operator& op, std::size_t index) {
    std::vector<Count> numbers;
    const std::string_view text = index < op.concrete_inputs.size()
                                      ? std::string_view(op.concrete_inputs[index])
                                      : std::string_view();
    for (const char* at = text.data(); at != text.data() + text.size();) {
        Count number = 0;
        const auto [end, error] = std::from_chars(at, text.data() + text.size(), number);
        at = error == std::errc{} ? end : at + 1;
        if (error == std::errc{}) {
            numbers.push_back(number);
        }
    }
    return numbers;
}

// Planes of the output of a convolution over volumes; nothing where its settings are not recorded.
std::optional<Count> output_depth(const Operator& op, const Pattern& pattern, const Dims& in,
                                  const Dims& weight) {
    const auto stride = extents(op, pattern.stride);
    const auto pad = extents(op, pattern.pad);
    if (stride.empty() || pad.empty() || stride[0] < 1 || pad[0] < 0 || !sane(in) ||
        !sane(weight) || pad[0] > model::kMaxDimension || stride[0] > model::kMaxDimension) {
        return std::nullopt;
    }
    const Count planes = (in[2] + 2 * pad[0] - weight[2]) / stride[0] + 1;
    return planes >= 1 ? std::optional(planes) : std::nullopt;
}

// One-dimensional convolutions are of height 1.
std::optional<model::ConvShape> conv_shape(const Operator& op, const Pattern& pattern, Dims in,
                                           Dims weight, bool& approximate) {
    if (in.size() == 3 && weight.size() == 2) { // a row of taps for each channel
        weight.insert(weight.begin() + 1, 1);
    }
    const bool one_dimensional = in.size() == 3 && weight.size() == 3;
    if (one_dimensional) {
        in.insert(in.begin() + 2, 1);
        weight.insert(weight.begin() + 2, 1);
    }
    // Planes of a volume as images, taps in depth as channels.
    const bool volume = in.size() == 5 && weight.size() == 5;
    Count depth = 1;
    const auto depths = volume ? output_depth(op, pattern, in, weight) : std::optional<Count>(1);
    if (volume && depths) {
        const auto images = checked_mul(in[0], *depths);
        const auto channels = checked_mul(weight[1], weight[2]);
        const auto inputs = checked_mul(in[1], weight[2]);
        if (!images || !channels || !inputs) {
            return std::nullopt;
        }
        depth = weight[2];
        in = {*images, *inputs, in[3], in[4]};
        weight = {weight[0], *channels, weight[3], weight[4]};
    }
    if (in.size() != 4 || weight.size() != 4 || !sane(in) || !sane(weight) ||
        in[1] % weight[1] != 0) {
        return std::nullopt;
    }
    model::ConvShape shape{in[0], in[1], in[2], in[3], weight[0], weight[2], weight[3]};
    shape.groups = in[1] / weight[1];
    shape.depth = depth;
    const auto stride = extent(op, pattern.stride);
    const auto pad = extent(op, pattern.pad);
    const auto dilation = extent(op, pattern.dilation);
    approximate = !stride || !pad || !dilation;
    shape.stride = stride.value_or(shape.stride);
    shape.pad = pad.value_or(shape.pad);
    shape.dilation = dilation.value_or(shape.dilation);
    if (one_dimensional) {
        shape.stride.h = 1;
        shape.pad.h = 0;
        shape.dilation.h = 1;
    }
    return shape;
}

// Along one side of the output of a transposed convolution.
std::optional<Count> extended(Count size, Count taps, Count stride, Count pad, Count dilation,
                              Count more) {
    const auto steps = checked_mul(size - 1, stride);
    const auto reach = checked_mul(taps - 1, dilation);
    if (!steps || !reach || *steps > model::kMaxDimension || *reach > model::kMaxDimension ||
        std::abs(pad) > model::kMaxDimension || std::abs(more) > model::kMaxDimension) {
        return std::nullopt;
    }
    const Count made = *steps - 2 * pad + *reach + more + 1;
    return made >= 1 ? std::optional(made) : std::nullopt;
}

// The convolution from the output to the input, of which a transposed one is the data gradient; the
// planes of a volume as images, taps in depth as channels.
std::optional<model::ConvShape> transposed_shape(const Operator& op, const Pattern& pattern,
                                                 Dims in, Dims weight) {
    const auto along = [&op](std::size_t index, Count usual, std::size_t sides) {
        std::vector<Count> numbers = extents(op, index);
        const bool sane = numbers.size() == 1 || numbers.size() == sides;
        return sane ? std::vector<Count>(numbers.size() == 1 ? std::vector(sides, numbers[0])
                                                             : numbers)
                    : std::vector<Count>(sides, usual);
    };
    if (in.size() < 3 || in.size() > 5 || in.size() != weight.size() || !sane(in) ||
        !sane(weight) || in[1] != weight[0]) {
        return std::nullopt;
    }
    const std::size_t sides = in.size() - 2;
    std::vector<Count> stride = along(pattern.stride, 1, sides), pad = along(pattern.pad, 0, sides),
                       dilation = along(pattern.dilation, 1, sides),
                       more = along(pattern.transposed + 1, 0, sides);
    const auto groups = extents(op, pattern.transposed + 2);
    if (sides == 1) { // of height 1
        in.insert(in.begin() + 2, 1);
        weight.insert(weight.begin() + 2, 1);
        stride.insert(stride.begin(), 1);
        pad.insert(pad.begin(), 0);
        dilation.insert(dilation.begin(), 1);
        more.insert(more.begin(), 0);
    }
    const std::size_t h = in.size() - 2, at = h - 2;
    const auto height = extended(in[h], weight[h], stride[at], pad[at], dilation[at], more[at]);
    const auto width = extended(in[h + 1], weight[h + 1], stride[at + 1], pad[at + 1],
                                dilation[at + 1], more[at + 1]);
    model::ConvShape shape;
    shape.depth = sides == 3 ? weight[2] : 1;
    shape.groups = groups.size() == 1 && groups[0] >= 1 ? groups[0] : 1;
    const auto images = checked_mul(in[0], sides == 3 ? in[2] : 1);
    const auto made = checked_mul(weight[1], shape.groups);
    const auto read = checked_mul(in[1], shape.depth);
    if (!height || !width || !images || !made || !read) {
        return std::nullopt;
    }
    shape.n = *images;
    shape.c = *made;
    shape.h = *height;
    shape.w = *width;
    shape.k = *read;
    shape.r = weight[h];
    shape.s = weight[h + 1];
    shape.stride = {stride[at], stride[at + 1]};
    shape.pad = {pad[at], pad[at + 1]};
    shape.dilation = {dilation[at], dilation[at + 1]};
    return shape;
}

bool says_true(const Operator& op, std::size_t index) {
    return index != 0 && index < op.concrete_inputs.size() &&
           op.concrete_inputs[index].starts_with("True");
}

// Both gradients unless the mask "[True, False, …]" says that one of them was not asked for.
void set_backward(const Operator& op, const Pattern& pattern, OperatorLayer& result) {
    const bool has_mask = pattern.mask < op.concrete_inputs.size();
    const std::string mask = has_mask ? op.concrete_inputs[pattern.mask] : "[True, True";
    const bool data = mask.starts_with("[True");
    const bool weight = mask.find(", True") == mask.find(',');
    result.repeats = data && weight ? 2 : 1;
    result.layer.direction = weight ? model::Direction::bwd_weight : result.data_direction;
}

model::TensorTypes types_of(const Operator& op, const Pattern& pattern) {
    const auto at = [&op](std::size_t i) {
        return i < op.input_types.size() ? data_type_of(op.input_types[i]) : std::nullopt;
    };
    const model::DataType input = at(pattern.left).value_or(model::DataType::fp32);
    return {input, at(pattern.right).value_or(input), input};
}

// A product of complex numbers is four of real ones: twice the columns over twice the depth.
void make_complex(const Operator& op, const Pattern& pattern, OperatorLayer& result) {
    const std::string_view type = pattern.left < op.input_types.size()
                                      ? std::string_view(op.input_types[pattern.left])
                                      : std::string_view();
    auto& shape = std::get<model::GemmShape>(result.layer.shape);
    if (!type.starts_with("c10::complex") || 2 * shape.n > model::kMaxDimension ||
        2 * shape.k > model::kMaxDimension) {
        return;
    }
    shape.n *= 2;
    shape.k *= 2;
    const model::DataType real =
        type.find("double") != std::string_view::npos ? model::DataType::fp64
        : type.find("Half") != std::string_view::npos ? model::DataType::fp16
                                                      : model::DataType::fp32;
    result.layer.types = {real, real, real};
    result.approximate = true;
}

} // namespace

std::optional<model::DataType> data_type_of(std::string_view framework_type) {
    const auto it = std::ranges::find(kTypes, framework_type, &NamedType::name);
    return it == std::end(kTypes) ? std::nullopt : std::optional(it->type);
}

bool carries_shape(std::string_view op_name) {
    return pattern_of(op_name) != nullptr;
}

std::optional<OperatorLayer> layer_of(const Operator& op) {
    const Pattern* pattern = pattern_of(op.name);
    if (pattern == nullptr || op.input_dims.size() <= pattern->right) {
        return std::nullopt;
    }
    const bool transposed = says_true(op, pattern->transposed);
    const Dims& left = op.input_dims[pattern->left];
    const Dims& right = op.input_dims[pattern->right];
    OperatorLayer result;
    result.layer.name = op.name;
    result.layer.types = types_of(op, *pattern);
    if (pattern->conv) {
        const auto shape = transposed ? transposed_shape(op, *pattern, left, right)
                                      : conv_shape(op, *pattern, left, right, result.approximate);
        if (!shape) {
            return std::nullopt;
        }
        result.layer.op = model::Op::conv2d;
        result.layer.shape = *shape;
        if (transposed) {
            result.layer.direction = model::Direction::bwd_data;
            result.data_direction = model::Direction::fwd;
        }
        if (pattern->direction != model::Direction::fwd) {
            set_backward(op, *pattern, result);
        }
    } else {
        bool batched = false;
        const auto shape = gemm_shape(left, right, pattern->name == "linear", batched);
        if (!shape) {
            return std::nullopt;
        }
        result.layer.op = batched ? model::Op::bmm : model::Op::gemm;
        result.layer.shape = *shape;
        result.approximate = batched && left.size() > 2 && right.size() > 2 &&
                             !std::equal(left.begin(), left.end() - 2, right.begin(),
                                         right.end() - 2); // an operand is read several times
        make_complex(op, *pattern, result);
    }
    return result;
}

} // namespace eyeroof::profiles
