// Operators of com.microsoft that ONNX Runtime's quantizers and optimizers write in the place of
// ONNX's own.
#include "base/checked.hpp"
#include "formats/onnx/operators.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace eyeroof::formats::onnx {

namespace {

using model::Op;

// Scale and zero point of the result, then each operand with its own.
void quantized_concat(Step& step) {
    const Value& first = step.in(2);
    const auto at = axis_of(first, step.integer("axis", 0));
    if (!at) {
        return step.fail("the sizes of its operands are not known");
    }
    Dims result = *first.dims;
    for (std::size_t i = 5; i < step.inputs(); i += 3) {
        if (step.in(i).rank() != first.rank()) {
            return step.fail("the sizes of its operands are not known");
        }
        const auto sum = checked_add(result[*at], (*step.in(i).dims)[*at]);
        if (!sum) {
            return step.fail("its sizes are too large");
        }
        result[*at] = *sum;
    }
    step.give(std::move(result), 2);
    step.add_elementwise("copy");
}

void quantized_where(Step& step) {
    const auto chosen = broadcast(step.in(1), step.in(4));
    Value both;
    both.dims = chosen;
    const auto dims = chosen ? broadcast(step.in(0), both) : std::nullopt;
    if (!dims) {
        return step.fail("the sizes of its operands are not known, or do not match");
    }
    step.give(*dims, 1);
    step.add_elementwise("where");
}

// Words, segments and positions looked up, added and normalized.
void embed_norm(Step& step, std::size_t words, std::size_t positions, std::size_t segments) {
    const Value& ids = step.in(0);
    const Value& table = step.in(words);
    const auto rows = ids.elements();
    if (ids.rank() != 2 || table.rank() != 2 || !rows || *rows < 1) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t cols = (*table.dims)[1];
    step.outputs.front().element = table.element;
    step.give({(*ids.dims)[0], (*ids.dims)[1], cols});
    if (step.outputs.size() > 1) {
        step.outputs[1].dims = Dims{(*ids.dims)[0]};
        step.outputs[1].element = kInt32;
    }
    if (step.outputs.size() > 2) {
        step.outputs[2] = step.outputs[0];
    }
    for (const std::size_t i : {words, positions, segments}) {
        if (step.has(i) && step.in(i).rank() == 2) {
            step.add(Op::embedding, model::RowsShape{*rows, cols, (*step.in(i).dims)[0]},
                     step.learned(i, i + 1), i == words ? ".words" : ".table");
        }
    }
    step.add(Op::elementwise, model::ElementwiseShape{*rows, cols, "add3"}, 0, ".sum");
    const std::size_t scale = std::max({words, positions, segments}) + 1;
    step.add(Op::layernorm, model::RowsShape{*rows, cols}, step.learned(scale, scale + 2), ".norm");
}

// Where an operator of experts has their products' weights; `step` operands from one product's to
// the next's (scales, biases); elements that one stored value holds.
struct ExpertPlaces {
    std::size_t first = 2, step = 2;
    std::int64_t packed = 1;
};

// Inner width of the experts, and of their first product: twice as wide where gate and value stand
// beside each other. Weights are [experts, outputs, inputs]; earlier versions of the operators have
// [experts, inputs, outputs].
struct ExpertWidths {
    std::int64_t inner = 1, first = 1;
};

std::optional<ExpertWidths> expert_widths(const Dims& first, const Value& second, std::int64_t n,
                                          std::int64_t packed) {
    const auto wide = [&](std::int64_t size) { return checked_mul(size, packed).value_or(0); };
    const bool sized = second.rank() == 3;
    const bool inputs_last = wide(first[2]) == n && (!sized || (*second.dims)[1] == n);
    if (!inputs_last && first[1] != n) {
        return std::nullopt;
    }
    ExpertWidths widths;
    widths.first = inputs_last ? first[1] : wide(first[2]);
    widths.inner = !sized        ? widths.first
                   : inputs_last ? wide((*second.dims)[2])
                                 : (*second.dims)[1];
    return widths.inner > 0 && widths.first > 0 ? std::optional(widths) : std::nullopt;
}

// Learned values of the experts' products and their biases; scales of stored values are none.
std::optional<std::int64_t> learned_experts(Step& step, const ExpertPlaces& places) {
    std::optional<std::int64_t> all = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t weights = places.first + i * places.step;
        const std::size_t bias = weights + places.step - 1;
        const auto values = checked_mul(step.learned(weights, weights + 1), places.packed);
        all = all && values ? checked_add(*all, *values) : std::nullopt;
        all = all ? checked_add(*all, step.learned(bias, bias + 1)) : std::nullopt;
    }
    return all;
}

// Tokens, router's choice, then the experts' first, second, and (of a gate beside it) third
// product.
void experts(Step& step, const ExpertPlaces& places) {
    const Value& x = step.in(0);
    const Value& w = step.in(places.first);
    const auto all = x.elements();
    if (!all || x.rank() < 2 || step.in(1).rank() != 2 || w.rank() != 3 || *all < 1) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t n = x.dims->back();
    const std::int64_t tokens = *all / n;
    const std::int64_t number = (*w.dims)[0];
    const auto widths =
        expert_widths(*w.dims, step.in(places.first + places.step), n, places.packed);
    if (!widths) {
        return step.fail("its experts' weights do not match its input");
    }
    const std::int64_t topk = std::min(step.integer("k", 1), number);
    const auto routed = checked_mul(tokens, topk);
    const auto learned = learned_experts(step, places);
    if (!routed || !learned) {
        return step.fail("its sizes are too large");
    }
    step.give(*x.dims);
    const bool beside = step.has(places.first + 2 * places.step);
    if (beside || widths->first == checked_mul(widths->inner, 2)) {
        step.add(Op::moe, model::MoeShape{tokens, n, widths->inner, topk, number}, *learned);
        return;
    }
    step.add(Op::gemm, model::GemmShape{1, *routed, widths->first, n}, *learned, ".up");
    step.add(Op::elementwise, model::ElementwiseShape{*routed, widths->inner, "gelu"}, 0, ".act");
    step.add(Op::gemm, model::GemmShape{1, *routed, n, widths->inner}, 0, ".down");
}

void quantized_experts(Step& step) {
    const std::int64_t bits = step.integer("expert_weight_bits", 4);
    if (bits < 1 || bits > 8) {
        return step.fail("its elements have no bits, or more than a byte");
    }
    experts(step, {2, 3, 8 / bits});
    for (model::Layer& layer : step.layers) {
        layer.types.weight = bits <= 4 ? model::DataType::int4 : model::DataType::int8;
    }
}

// Images with channels last.
void channels_last_norm(Step& step) {
    const Value& x = step.in(0);
    const auto all = x.elements();
    const std::int64_t groups = step.integer("groups", 1);
    if (!all || x.rank() < 3 || groups < 1 || *all < 1 || *all % ((*x.dims)[0] * groups) != 0) {
        return step.fail("the sizes of its input are not known, or its groups do not divide them");
    }
    step.give(*x.dims);
    step.add(Op::layernorm, model::RowsShape{(*x.dims)[0] * groups, *all / (*x.dims)[0] / groups},
             step.learned(1, 3));
}

void bias_add(Step& step) {
    if (!step.in(0).known()) {
        return step.fail("the sizes of its input are not known");
    }
    step.give(*step.in(0).dims);
    step.add_elementwise("add", step.learned(1, 2));
}

// Halves along the last axis, one gated by the other.
void split_gelu(Step& step) {
    const Value& x = step.in(0);
    if (x.rank() < 1) {
        return step.fail("the sizes of its input are not known");
    }
    Dims result = *x.dims;
    result.back() /= 2;
    step.give(std::move(result));
    step.add_elementwise("geglu", step.learned(1, 2));
}

// Rows of a table that is stored in few bits, in blocks with scales.
void gather_blocks(Step& step) {
    const Value& table = step.in(0);
    const Value& indices = step.in(1);
    if (table.rank() != 2 || !indices.known() || step.integer("gather_axis", 0) != 0) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t bits = step.integer("bits", 4);
    if (bits < 1 || bits > 8) {
        return step.fail("its elements have no bits, or more than a byte");
    }
    const std::int64_t packed = table.element == kUint8 ? 8 / bits : 1;
    const auto cols = checked_mul((*table.dims)[1], packed);
    const auto rows = indices.elements();
    const auto learned = checked_mul(step.learned(0, 1), packed);
    if (!cols || !rows || !learned || *rows < 1) {
        return step.fail("its sizes are not known, or too large");
    }
    Dims result = *indices.dims;
    result.push_back(*cols);
    step.outputs.front().element = step.in(2).element;
    step.give(std::move(result));
    step.add(Op::embedding, model::RowsShape{*rows, *cols, (*table.dims)[0]}, *learned);
    step.layers.back().types.weight = bits <= 4 ? model::DataType::int4 : model::DataType::int8;
}

} // namespace

void add_quantized(Handlers& handlers) {
    handlers["com.microsoft.QLinearConcat"] = quantized_concat;
    handlers["com.microsoft.QLinearWhere"] = quantized_where;
    handlers["com.microsoft.EmbedLayerNormalization"] = [](Step& s) { embed_norm(s, 2, 3, 4); };
    handlers["com.microsoft.MoE"] = [](Step& s) { experts(s, {}); };
    handlers["com.microsoft.QMoE"] = quantized_experts;
    handlers["com.microsoft.GroupNorm"] = channels_last_norm;
    handlers["com.microsoft.BiasAdd"] = bias_add;
    handlers["com.microsoft.BiasSplitGelu"] = split_gelu;
    handlers["com.microsoft.GatherBlockQuantized"] = gather_blocks;
}

} // namespace eyeroof::formats::onnx
