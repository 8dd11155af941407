// Operators of com.microsoft that ONNX Runtime's quantizers and optimizers write in the place of
// ONNX's own.
#include "base/checked.hpp"
#include "formats/onnx/operators.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
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

// Tokens, router's choice, then the experts' first and second (and third) products.
void experts(Step& step, std::size_t first, std::size_t second) {
    const Value& x = step.in(0);
    const Value& router = step.in(1);
    const Value& w = step.in(first);
    const auto all = x.elements();
    if (!all || x.rank() < 2 || router.rank() != 2 || w.rank() != 3 || *all < 1) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t n = x.dims->back();
    const std::int64_t tokens = *all / n;
    const std::int64_t number = (*w.dims)[0];
    const std::int64_t packed = std::max<std::int64_t>(
        1, 8 / std::max<std::int64_t>(step.integer("expert_weight_bits", 8), 1));
    const bool second_known = step.in(second).rank() == 3;
    // fc1 is [experts, inner (x 2 where gate and value stand together), n]; fc2 [experts, n,
    // inner].
    const auto wide = second_known ? checked_mul((*step.in(second).dims)[2], packed)
                                   : std::optional((*w.dims)[1]);
    if (!wide || *wide > std::numeric_limits<std::int64_t>::max() / 2) {
        return step.fail("its sizes are too large");
    }
    const std::int64_t inner = *wide;
    const std::int64_t topk = std::min(step.integer("k", 1), number);
    if (!checked_mul(tokens, topk)) {
        return step.fail("its sizes are too large");
    }
    step.give(*x.dims);
    const bool gated = step.text("activation_type", "relu").find("swiglu") != std::string::npos ||
                       step.has(second + 3) || (second_known && (*w.dims)[1] == 2 * inner);
    if (gated) {
        step.add(Op::moe, model::MoeShape{tokens, n, inner, topk, number},
                 step.learned(first, step.inputs()));
        return;
    }
    const std::int64_t learned = step.learned(first, step.inputs());
    step.add(Op::gemm, model::GemmShape{1, tokens * topk, inner, n}, learned, ".up");
    step.add(Op::elementwise, model::ElementwiseShape{tokens * topk, inner, "gelu"}, 0, ".act");
    step.add(Op::gemm, model::GemmShape{1, tokens * topk, n, inner}, 0, ".down");
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
    const auto cols = checked_mul((*table.dims)[1], table.element == kUint8 ? 8 / bits : 1);
    if (!cols) {
        return step.fail("its sizes are too large");
    }
    Dims result = *indices.dims;
    result.push_back(*cols);
    step.outputs.front().element = step.in(2).element;
    step.give(std::move(result));
    step.add_elementwise("copy");
}

} // namespace

void add_quantized(Handlers& handlers) {
    handlers["com.microsoft.QLinearConcat"] = quantized_concat;
    handlers["com.microsoft.QLinearWhere"] = quantized_where;
    handlers["com.microsoft.EmbedLayerNormalization"] = [](Step& s) { embed_norm(s, 2, 3, 4); };
    handlers["com.microsoft.MoE"] = [](Step& s) { experts(s, 2, 4); };
    handlers["com.microsoft.QMoE"] = [](Step& s) { experts(s, 2, 5); };
    handlers["com.microsoft.GroupNorm"] = channels_last_norm;
    handlers["com.microsoft.BiasAdd"] = bias_add;
    handlers["com.microsoft.BiasSplitGelu"] = split_gelu;
    handlers["com.microsoft.GatherBlockQuantized"] = gather_blocks;
}

} // namespace eyeroof::formats::onnx
