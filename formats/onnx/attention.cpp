// Attention as one operator: ONNX's (opset 23) and those of com.microsoft;
// rotary positions.
#include "formats/onnx/operators.hpp"

namespace eyeroof::formats::onnx {

namespace {

using model::AttentionShape;
using model::Op;

// Sequences, words, width of all heads; four sizes are split into heads
// already.
struct Side {
    std::int64_t batch = 1, words = 1, width = 1, heads = 0;
};

std::optional<Side> side_of(const Value& value) {
    if (value.rank() == 3) {
        return Side{(*value.dims)[0], (*value.dims)[1], (*value.dims)[2], 0};
    }
    if (value.rank() == 4) {
        return Side{(*value.dims)[0], (*value.dims)[2], (*value.dims)[1] * (*value.dims)[3],
                    (*value.dims)[1]};
    }
    return std::nullopt;
}

// Words that lie in the cache before those of this run; the present cache as a
// further output.
std::int64_t past_words(Step& step, std::size_t operand, std::int64_t words) {
    if (!step.has(operand) || step.in(operand).rank() != 4) {
        return 0;
    }
    const std::int64_t past = (*step.in(operand).dims)[2];
    for (std::size_t i = 1; i < step.outputs.size() && i < 3; ++i) {
        step.outputs[i].dims = *step.in(operand).dims;
        (*step.outputs[i].dims)[2] = past + words;
        step.outputs[i].element = step.in(operand).element;
    }
    return past;
}

void attend(Step& step, const Side& query, std::int64_t heads, std::int64_t keys) {
    if (heads < 1 || query.width % heads != 0) {
        return step.fail("its number of heads makes no sense");
    }
    step.give(*step.in(0).dims);
    step.add(Op::attention,
             AttentionShape{query.batch, heads, query.words, keys, query.width / heads});
}

void attention(Step& step) { // opset 23: Q, K, V, mask, past key, past value
    const auto query = side_of(step.in(0));
    const auto key = side_of(step.in(1));
    if (!query || !key) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t heads = query->heads > 0 ? query->heads : step.integer("q_num_heads", 0);
    attend(step, *query, heads, key->words + past_words(step, 4, key->words));
}

// com.microsoft: query, key, value; keys may stand in the query's tensor with
// their values.
void multi_head(Step& step, std::size_t past, bool grouped) {
    auto query = side_of(step.in(0));
    if (!query) {
        return step.fail("the sizes of its operands are not known");
    }
    const std::int64_t heads = step.integer("num_heads", 0);
    const auto key = step.has(1) ? side_of(step.in(1)) : query;
    const std::int64_t shared = grouped ? step.integer("kv_num_heads", heads) : heads;
    constexpr std::int64_t kMostHeads = std::int64_t{1} << 31U;
    if (heads < 0 || heads > kMostHeads || shared < 0 || shared > kMostHeads) {
        return step.fail("its heads make no sense");
    }
    if (!step.has(1) && heads > 0) { // packed
        query->width = query->width / (heads + 2 * shared) * heads;
    }
    const std::int64_t words = key ? key->words : query->words;
    attend(step, *query, heads, words + past_words(step, past, words));
    if (step.outcome == Outcome::costed) {
        step.outputs[0].dims = Dims{query->batch, query->words, query->width};
    }
}

// com.microsoft's first: the projection of query, key and value is part of it.
void projected_attention(Step& step, std::size_t past) {
    const auto input = side_of(step.in(0));
    const Value& w = step.in(1);
    if (!input || w.rank() != 2 || (*w.dims)[1] % 3 != 0) {
        return step.fail("the sizes of its operands are not known");
    }
    step.add(Op::gemm, model::GemmShape{1, input->batch * input->words, (*w.dims)[1], input->width},
             step.learned(1, 3), ".qkv");
    const Side query{input->batch, input->words, (*w.dims)[1] / 3, 0};
    attend(step, query, step.integer("num_heads", 0),
           input->words + past_words(step, past, input->words));
    if (step.outcome == Outcome::costed) {
        step.outputs[0].dims = Dims{query.batch, query.words, query.width};
    }
}

void rotary(Step& step) {
    const auto all = step.in(0).elements();
    if (!all || *all < 1) {
        return step.fail("the sizes of its input are not known");
    }
    step.give(*step.in(0).dims);
    step.add(Op::rope, model::RowsShape{*all / step.in(0).dims->back(), step.in(0).dims->back()});
}

} // namespace

void add_attention(Handlers& handlers) {
    handlers["Attention"] = attention;
    handlers["com.microsoft.Attention"] = [](Step& s) { projected_attention(s, 4); };
    handlers["com.microsoft.QAttention"] = [](Step& s) { projected_attention(s, 8); };
    handlers["MultiHeadAttention"] = [](Step& s) { multi_head(s, 6, false); };
    handlers["GroupQueryAttention"] = [](Step& s) { multi_head(s, 3, true); };
    handlers["RotaryEmbedding"] = rotary;
}

} // namespace eyeroof::formats::onnx
