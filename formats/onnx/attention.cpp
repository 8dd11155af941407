// Attention as one operator: ONNX's (since opset 23) and those of com.microsoft; rotary positions;
// attention that keeps a state in place of keys.
#include "formats/onnx/operators.hpp"

#include <algorithm>

namespace eyeroof::formats::onnx {

namespace {

using model::AttentionShape;
using model::GemmShape;
using model::Op;

constexpr const char* kUnknownSizes = "the sizes of its operands are not known";
constexpr const char* kWrongHeads = "its heads make no sense";

// Queries, keys, or values: sequences, their heads and words, and the size of a head.
struct Side {
    std::int64_t batch = 1, heads = 1, words = 1, size = 1;
};

std::optional<Side> split_heads(std::int64_t batch, std::int64_t words, std::int64_t width,
                                std::int64_t heads) {
    return heads > 0 && width % heads == 0 ? std::optional(Side{batch, heads, words, width / heads})
                                           : std::nullopt;
}

// Of [batch, words, heads size] or [batch, heads, words, size].
std::optional<Side> side_of(const Value& value, std::int64_t heads) {
    if (value.rank() == 4) {
        const Dims& d = *value.dims;
        return Side{d[0], d[1], d[2], d[3]};
    }
    return value.rank() == 3
               ? split_heads((*value.dims)[0], (*value.dims)[1], (*value.dims)[2], heads)
               : std::nullopt;
}

// What an operator attends to. Of `keys` words the first `past` lie in the cache; a causal query
// sees those and itself.
struct Attended {
    Side query, key;
    std::int64_t value = 1; // size of a head
    std::int64_t keys = 1, past = 0;
    bool causal = false;
    std::int64_t left = -1, right = -1; // words that a query sees on either side; -1: all
};

// A window of both sides is counted in full at the ends, too; a bound that only cuts what lies
// before or behind a query is left out unless it is causal.
AttentionShape attention_shape(const Attended& a) {
    const Side& q = a.query;
    AttentionShape shape{q.batch, q.heads, q.words, a.keys, q.size};
    shape.kv_heads = a.key.heads == q.heads ? 0 : a.key.heads;
    shape.v = a.value == q.size ? 0 : a.value;
    const std::int64_t last = a.past + q.words; // of the words that a causal query may see
    const bool behind = a.causal || a.right == 0;
    shape.causal = behind && last <= a.keys;
    shape.n = shape.causal ? last : a.keys;
    if (a.left >= 0 && (behind || a.right >= 0) && q.words <= shape.n) {
        shape.window = a.left + 1 + (behind ? 0 : a.right);
    }
    shape.window = shape.window >= shape.n ? 0 : shape.window;
    return shape;
}

void attend(Step& step, const Attended& a, std::int64_t parameters = 0) {
    constexpr std::int64_t kMostHeads = std::int64_t{1} << 31U;
    const bool heads = a.query.heads > 0 && a.key.heads > 0 && a.query.heads < kMostHeads &&
                       a.query.heads % a.key.heads == 0;
    if (!heads) {
        return step.fail(kWrongHeads);
    }
    // Queries behind the last key see all keys.
    const std::int64_t causal = std::min(a.query.words, a.keys - a.past);
    if (a.causal && a.left < 0 && causal > 0 && causal < a.query.words) {
        Attended first = a;
        Attended rest = a;
        first.query.words = causal;
        rest.query.words -= causal;
        rest.causal = false;
        step.add(Op::attention, attention_shape(first), parameters);
        return step.add(Op::attention, attention_shape(rest), 0, ".rest");
    }
    step.add(Op::attention, attention_shape(a), parameters);
}

// The cache with this run's words behind it: [batch, heads, words, size] of keys and of values.
void give_present(Step& step, const Attended& a) {
    for (std::size_t i = 1; i < std::min<std::size_t>(step.outputs.size(), 3); ++i) {
        step.outputs[i].dims =
            Dims{a.key.batch, a.key.heads, a.keys, i == 1 ? a.key.size : a.value};
        step.outputs[i].element = step.in(1).element;
    }
}

void give_joined(Step& step, const Attended& a) { // [batch, words, heads value]
    const auto width = checked_mul(a.query.heads, a.value);
    step.give({a.query.batch, a.query.words, width.value_or(0)});
}

std::int64_t cached_words(const Step& step, std::size_t past) {
    return step.has(past) && step.in(past).rank() == 4 ? (*step.in(past).dims)[2] : 0;
}

// The largest of a constant operand's values; nothing where they depend on the data.
std::optional<std::int64_t> most_of(const Step& step, std::size_t operand) {
    const auto all = step.has(operand) ? step.integers("", operand) : std::nullopt;
    return all && !all->empty() ? std::optional(*std::max_element(all->begin(), all->end()))
                                : std::nullopt;
}

// Q, K, V, mask, past key, past value, and since opset 24 the words of a cache that is kept
// outside.
void attention(Step& step) {
    constexpr std::size_t kPast = 4, kFilled = 6;
    const auto query = side_of(step.in(0), step.integer("q_num_heads", 0));
    const auto key = side_of(step.in(1), step.integer("kv_num_heads", 0));
    const auto value = side_of(step.in(2), step.integer("kv_num_heads", 0));
    if (!query || !key || !value) {
        return step.fail(kUnknownSizes);
    }
    Attended a{*query, *key, value->size};
    a.past = cached_words(step, kPast);
    a.keys = a.past + key->words;
    if (step.has(kFilled)) { // an upper bound where it depends on the data
        a.keys = std::clamp(most_of(step, kFilled).value_or(a.keys), std::int64_t{1}, a.keys);
        a.past = std::max<std::int64_t>(a.keys - query->words, 0);
    }
    a.causal = step.integer("is_causal", 0) != 0;
    a.left = step.integer("left_window_size", -1);
    a.right = step.integer("right_window_size", -1);
    give_present(step, a);
    if (step.outputs.size() > 3) {
        step.outputs[3].dims = Dims{query->batch, query->heads, query->words, a.keys};
        step.outputs[3].element = step.in(0).element;
    }
    if (step.in(0).rank() == 4) {
        step.give({query->batch, query->heads, query->words, value->size});
    } else {
        give_joined(step, a);
    }
    attend(step, a);
}

// com.microsoft. Queries, keys and values may stand in one tensor of five sizes, [batch, words,
// heads, 3, size], keys and values in one of two.
struct Sides {
    Side query, key;
    std::int64_t value = 1;
};

std::optional<Side> stacked_side(const Value& value, std::int64_t of) {
    const bool fits = value.rank() == 5 && (*value.dims)[3] == of;
    return fits ? std::optional(
                      Side{(*value.dims)[0], (*value.dims)[2], (*value.dims)[1], (*value.dims)[4]})
                : std::nullopt;
}

std::optional<Sides> sides_of(const Step& step, std::int64_t heads) {
    if (const auto all = stacked_side(step.in(0), 3)) {
        return Sides{*all, *all, all->size};
    }
    const auto query = side_of(step.in(0), heads);
    if (!query || !step.has(1)) {
        return query ? std::optional(Sides{*query, *query, query->size}) : std::nullopt;
    }
    if (const auto both = stacked_side(step.in(1), 2)) {
        return Sides{*query, *both, both->size};
    }
    const auto key = side_of(step.in(1), heads);
    const auto value = step.has(2) ? side_of(step.in(2), heads) : key;
    return key && value ? std::optional(Sides{*query, *key, value->size}) : std::nullopt;
}

// `bias`, `past`: their operands.
void multi_head(Step& step, std::size_t bias, std::size_t past) {
    const auto sides = sides_of(step, step.integer("num_heads", 0));
    if (!sides) {
        return step.fail(kUnknownSizes);
    }
    Attended a{sides->query, sides->key, sides->value};
    a.past = cached_words(step, past);
    a.keys = a.past + a.key.words;
    a.causal = step.integer("unidirectional", 0) != 0;
    give_present(step, a);
    give_joined(step, a);
    attend(step, a, step.learned(bias, bias + 1));
}

// One new word; the cache is a buffer of the most words.
void masked_multi_head(Step& step) {
    constexpr std::size_t kPast = 5, kWords = 7, kBias = 10;
    const auto sides = sides_of(step, step.integer("num_heads", 0));
    if (!sides) {
        return step.fail(kUnknownSizes);
    }
    Attended a{sides->query, sides->key, sides->value};
    const std::int64_t buffer = cached_words(step, kPast);
    a.keys = buffer > 0 ? buffer : a.key.words;
    give_present(step, a);
    if (const auto words = most_of(step, kWords); words && buffer > 0) {
        a.keys = std::clamp<std::int64_t>(*words + a.query.words, 1, buffer);
    }
    give_joined(step, a);
    attend(step, a, step.learned(kBias, kBias + 1));
}

// Keys and values may stand behind the queries. Always causal.
void group_query(Step& step) {
    constexpr std::size_t kPast = 3, kAllWords = 6, kSinks = 11;
    const std::int64_t heads = step.integer("num_heads", 0);
    const std::int64_t shared = step.integer("kv_num_heads", heads);
    constexpr std::int64_t kMostHeads = std::int64_t{1} << 31U;
    if (heads < 1 || heads > kMostHeads || shared < 1 || shared > kMostHeads) {
        return step.fail(kWrongHeads);
    }
    const bool packed = !step.has(1);
    const auto query = side_of(step.in(0), packed ? heads + 2 * shared : heads);
    const auto key = packed ? query : side_of(step.in(1), shared);
    if (!query || !key) {
        return step.fail(kUnknownSizes);
    }
    Attended a{*query, *key, key->size};
    a.query.heads = heads;
    a.key.heads = shared;
    a.past = cached_words(step, kPast);
    a.keys = a.past + key->words;
    give_present(step, a);
    if (const auto all = most_of(step, kAllWords)) { // the cache may be a longer buffer
        a.keys = std::clamp<std::int64_t>(*all, 1, a.keys);
        a.past = std::max<std::int64_t>(a.keys - key->words, 0);
    }
    a.causal = true;
    a.left = std::max<std::int64_t>(step.integer("local_window_size", -1), 0) - 1;
    give_joined(step, a);
    attend(step, a, step.learned(kSinks, kSinks + 1));
}

// Widths of queries, keys and values that the projection's weights make; the last may differ.
std::optional<Dims> projected_widths(const Step& step) {
    const Value& w = step.in(1);
    if (w.rank() != 2) {
        return std::nullopt;
    }
    const std::int64_t all = (*w.dims)[1];
    const Dims widths = step.integers("qkv_hidden_sizes").value_or(Dims{all / 3, all / 3, all / 3});
    const bool fits = widths.size() == 3 && widths[0] == widths[1] && widths[0] > 0 &&
                      widths[2] > 0 && widths[0] < all && widths[2] == all - 2 * widths[0];
    return fits ? std::optional(widths) : std::nullopt;
}

// com.microsoft's first: the projection of query, key and value is part of it. `past`: keys and
// values in one tensor, [2, batch, heads, words, size].
void project(Step& step, std::int64_t batch, std::int64_t words, std::int64_t width,
             std::size_t past, std::int64_t rows) {
    const auto widths = projected_widths(step);
    const std::int64_t heads = step.integer("num_heads", 0);
    const auto query = widths ? split_heads(batch, words, (*widths)[0], heads) : std::nullopt;
    const auto value = widths ? split_heads(batch, words, (*widths)[2], heads) : std::nullopt;
    if (!query || !value || rows < 1) {
        return step.fail(kUnknownSizes);
    }
    step.add(Op::gemm, GemmShape{1, rows, (*step.in(1).dims)[1], width}, step.learned(1, 3),
             ".qkv");
    Attended a{*query, *query, value->size};
    const bool cached = step.has(past) && step.in(past).rank() == 5;
    a.past = cached ? (*step.in(past).dims)[3] : 0;
    const bool buffer = cached && step.integer("past_present_share_buffer", 0) != 0;
    a.keys = buffer ? std::max(a.past, words) : a.past + words;
    a.past = a.keys - words;
    a.causal = step.integer("unidirectional", 0) != 0;
    if (step.outputs.size() > 1) {
        step.outputs[1].dims = Dims{2, batch, heads, a.keys, query->size};
        step.outputs[1].element = step.in(0).element;
    }
    attend(step, a);
}

void projected_attention(Step& step, std::size_t past) {
    const Value& x = step.in(0);
    const auto rows = x.rank() == 3 ? product(*x.dims, 0, 2) : std::nullopt;
    const auto widths = projected_widths(step);
    if (!rows || !widths) {
        return step.fail(kUnknownSizes);
    }
    step.give({(*x.dims)[0], (*x.dims)[1], (*widths)[2]});
    project(step, (*x.dims)[0], (*x.dims)[1], (*x.dims)[2], past, *rows);
}

// Sequences without their padding, one behind the other: the longest has as many words as there are
// places; as many sequences of that length as the words fill.
struct Packed {
    std::int64_t batch = 1, words = 1;
};

std::optional<Packed> packed_of(const Step& step, std::int64_t words, std::size_t places,
                                std::size_t ends) {
    const Value& offsets = step.in(places);
    if (offsets.rank() != 2 || words < 1 || (*offsets.dims)[1] < 1) {
        return std::nullopt;
    }
    std::int64_t longest = std::min((*offsets.dims)[1], words);
    if (const auto at = step.integers("", ends); at && at->size() > 1) {
        longest = 1;
        for (std::size_t i = 1; i < at->size(); ++i) {
            longest = std::clamp((*at)[i] - (*at)[i - 1], longest, words);
        }
    }
    return Packed{(words + longest - 1) / longest, longest};
}

void packed_attention(Step& step) {
    const Value& x = step.in(0);
    const auto packed = x.rank() == 2 ? packed_of(step, (*x.dims)[0], 3, 4) : std::nullopt;
    const auto widths = projected_widths(step);
    if (!packed || !widths) {
        return step.fail(kUnknownSizes);
    }
    step.give({(*x.dims)[0], (*widths)[2]});
    project(step, packed->batch, packed->words, (*x.dims)[1], step.inputs(), (*x.dims)[0]);
}

// Of [words, heads, 3 or 1, size], or [words, heads size].
std::optional<Side> packed_side(const Value& value, const Packed& packed, std::int64_t heads) {
    if (value.rank() == 4) {
        return Side{packed.batch, (*value.dims)[1], packed.words, (*value.dims)[3]};
    }
    return value.rank() == 2 ? split_heads(packed.batch, packed.words, (*value.dims)[1], heads)
                             : std::nullopt;
}

void packed_multi_head(Step& step) {
    const Value& x = step.in(0);
    const std::int64_t heads = step.integer("num_heads", 0);
    const auto packed = x.rank() >= 2 ? packed_of(step, (*x.dims)[0], 4, 5) : std::nullopt;
    if (!packed) {
        return step.fail(kUnknownSizes);
    }
    const auto query = packed_side(x, *packed, heads);
    const auto value = step.has(2) ? packed_side(step.in(2), *packed, heads) : query;
    if (!query || !value) {
        return step.fail(kUnknownSizes);
    }
    const Attended a{*query, *query, value->size, query->words};
    step.give({(*x.dims)[0], checked_mul(query->heads, value->size).value_or(0)});
    attend(step, a, step.learned(3, 4));
}

void rotary(Step& step) {
    const auto all = step.in(0).elements();
    if (!all || *all < 1) {
        return step.fail("the sizes of its input are not known");
    }
    step.give(*step.in(0).dims);
    step.add(Op::rope, model::RowsShape{*all / step.in(0).dims->back(), step.in(0).dims->back()});
}

// A state of size x value for each head of keys: of a word it is read (for each head of queries),
// written, and where the rule corrects it read before. What the recurrence says word by word;
// chunks of words do more. Source: ONNX, operators of opset 27.
void linear_attention(Step& step) {
    const auto query = side_of(step.in(0), step.integer("q_num_heads", 0));
    const auto key = side_of(step.in(1), step.integer("kv_num_heads", 0));
    const auto value = side_of(step.in(2), step.integer("kv_num_heads", 0));
    if (!query || !key || !value || query->words < 1) {
        return step.fail(kUnknownSizes);
    }
    if (query->heads % key->heads != 0) {
        return step.fail(kWrongHeads);
    }
    step.give({query->batch, query->words, query->heads * value->size});
    if (step.outputs.size() > 1) {
        step.outputs[1].dims = Dims{key->batch, key->heads, key->size, value->size};
        step.outputs[1].element = step.in(0).element;
    }
    const auto states = checked_mul(key->batch, key->heads);
    const auto reads = checked_mul(query->words, query->heads / key->heads);
    const auto rows = states ? checked_mul(*states, key->size) : std::nullopt;
    if (!rows || !reads) {
        return step.fail("its sizes are too large");
    }
    const std::string rule = step.text("update_rule", "gated_delta");
    if (rule.starts_with("gated")) {
        step.add(Op::elementwise, model::ElementwiseShape{*rows, value->size, "mulu"}, 0, ".decay");
    }
    if (rule.ends_with("delta")) {
        step.add(Op::bmm, GemmShape{*states, query->words, value->size, key->size}, 0, ".correct");
    }
    step.add(Op::bmm, GemmShape{*states, key->size, value->size, query->words}, 0, ".write");
    step.add(Op::bmm, GemmShape{*states, *reads, value->size, key->size}, 0, ".read");
}

} // namespace

void add_attention(Handlers& handlers) {
    handlers["Attention"] = attention;
    handlers["ai.onnx.preview.FlexAttention"] = attention;
    handlers["LinearAttention"] = linear_attention;
    handlers["com.microsoft.Attention"] = [](Step& s) { projected_attention(s, 4); };
    handlers["com.microsoft.DecoderMaskedSelfAttention"] = handlers["com.microsoft.Attention"];
    handlers["com.microsoft.QAttention"] = [](Step& s) { projected_attention(s, 8); };
    handlers["com.microsoft.PackedAttention"] = packed_attention;
    handlers["com.microsoft.PackedMultiHeadAttention"] = packed_multi_head;
    handlers["com.microsoft.MultiHeadAttention"] = [](Step& s) { multi_head(s, 3, 6); };
    handlers["com.microsoft.DecoderMaskedMultiHeadAttention"] = masked_multi_head;
    handlers["com.microsoft.GroupQueryAttention"] = group_query;
    handlers["RotaryEmbedding"] = rotary;
}

} // namespace eyeroof::formats::onnx
