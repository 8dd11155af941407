// GEMMs and attention whose operator is no framework's: the first operands that fit one.
#include "base/ascii.hpp"
#include "profiles/operator_args.hpp"
#include "profiles/operator_layer.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

namespace eyeroof::profiles {

namespace {

bool fits_dimension(Count size) {
    return size >= 1 && size <= model::kMaxDimension;
}

// Where the flag of causal attention stands among the arguments, by PyTorch's and FlashAttention's
// signatures.
std::optional<std::size_t> causal_argument(std::string_view name) {
    struct Place {
        std::string_view part;
        std::size_t at;
    };
    constexpr Place kPlaces[] = {
        {"_scaled_dot_product_flash_attention_backward", 11},
        {"_scaled_dot_product_efficient_attention_backward", 10},
        {"_scaled_dot_product_cudnn_attention_backward", 13},
        {"_scaled_dot_product_flash_attention", 4},
        {"_scaled_dot_product_efficient_attention", 6},
        {"_scaled_dot_product_cudnn_attention", 6},
        {"_flash_attention_backward", 11},
        {"_flash_attention_forward", 8},
        {"_efficient_attention_forward", 9},
        {"_flash_attn_varlen_forward", 9},
        {"flash_attn_3::", 24}, // behind the new keys, the tables, and the scales of fp8
        {"_vllm_fa3_C::fwd", 24},
        {"_vllm_fa2_C::varlen_fwd", 15},
        {"_flash_attn_forward", 5},
        {"FlashAttnFunc", 5},
        {"scaled_dot_product_attention", 5},
    };
    for (const Place& place : kPlaces) {
        if (name.find(place.part) != std::string_view::npos) {
            return place.at;
        }
    }
    return std::nullopt;
}

// Three operands one after the other that are queries, keys and values; keys and values may be a
// pool of pages, [pages, slots, heads, width], of one dimension more.
std::optional<std::size_t> queries_at(const OperatorArgs& args, std::size_t from) {
    for (std::size_t i = from; i + 2 < args.size(); ++i) {
        const Dims &q = args.dims(i), &k = args.dims(i + 1), &v = args.dims(i + 2);
        const bool tensors = args.tensor(i) && args.tensor(i + 1) && args.tensor(i + 2);
        const bool pages = q.size() == 3 && k.size() == 4 && k == v;
        if (tensors && (q.size() == 3 || q.size() == 4) && (k.size() == q.size() || pages) &&
            v.size() == k.size() && q.back() == k.back()) {
            return i;
        }
    }
    return std::nullopt;
}

bool holds_numbers(const OperatorArgs& args, std::size_t i, std::size_t rank) {
    const std::string_view type = args.type_name(i);
    return args.tensor(i) && args.dims(i).size() == rank &&
           (type == "int" || type.starts_with("long") || type == "Int" || type == "Long" ||
            type == "int32" || type == "int64");
}

std::optional<Count> plain_number(std::string_view text) {
    Count value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool all = error == std::errc{} && end == text.data() + text.size() && !text.empty();
    return all ? std::optional(value) : std::nullopt;
}

// Where sequences of several lengths stand behind each other: how many there are (from the
// boundaries, cu_seqlens of one more element) and the longest of each side, as far as it was
// recorded. Tables of pages say that keys and values are a pool.
struct Packed {
    Count sequences = 0; // 0: not known
    Count most_queries = 0, most_keys = 0;
    bool pages = false;
};
Packed packed_behind(const OperatorArgs& args, std::size_t values) {
    Packed packed;
    std::size_t first = args.size();
    for (std::size_t i = values + 1; i < args.size(); ++i) {
        if (holds_numbers(args, i, 1) && args.elements(i) > 1 && first == args.size()) {
            first = i;
            packed.sequences = args.elements(i) - 1;
        }
        packed.pages = packed.pages || holds_numbers(args, i, 2);
    }
    std::vector<Count> lengths;
    for (std::size_t i = first; i < args.size() && lengths.size() < 2; ++i) {
        const auto number = args.tensor(i) ? std::nullopt : plain_number(args.text(i));
        if (number && *number > 0) {
            lengths.push_back(*number);
        }
    }
    packed.most_queries = lengths.empty() ? 0 : lengths.front();
    packed.most_keys = lengths.size() < 2 ? 0 : lengths[1];
    return packed;
}

// [batch, heads, tokens, width], [batch, tokens, heads, width] or [tokens, heads, width].
std::optional<model::AttentionShape> attention_shape(const Dims& q, const Dims& k, Count v_size,
                                                     bool heads_first) {
    model::AttentionShape shape;
    const std::size_t rank = q.size();
    const std::size_t heads = heads_first ? rank - 3 : rank - 2;
    const std::size_t tokens = heads_first ? rank - 2 : rank - 3;
    shape.batch = rank == 4 ? q[0] : 1;
    shape.groups = q[heads];
    shape.m = q[tokens];
    shape.n = k[tokens];
    shape.k = q.back();
    shape.kv_heads = k[heads] == q[heads] ? 0 : k[heads];
    shape.v = v_size == q.back() ? 0 : v_size;
    const bool fine =
        (rank == 3 || q[0] == k[0]) && (shape.kv_heads == 0 || shape.groups % shape.kv_heads == 0);
    return fine ? std::optional(shape) : std::nullopt;
}

// Sequences that stand behind each other, as long as their mean: the least work that so many tokens
// allow. True where all are equally long.
bool split_evenly(const Packed& packed, model::AttentionShape& shape) {
    if (packed.sequences < 1 || packed.sequences > shape.m || packed.sequences > shape.n) {
        return false;
    }
    const Count queries = shape.m, keys = shape.n;
    shape.batch = packed.sequences;
    shape.m = (queries + packed.sequences - 1) / packed.sequences;
    shape.n = (keys + packed.sequences - 1) / packed.sequences;
    return packed.most_queries == shape.m && packed.most_keys == shape.n &&
           queries == packed.sequences * shape.m && keys == packed.sequences * shape.n;
}

// Keys and values of a pool of pages: each sequence is taken as long as the longest, which is all
// that is recorded; nullopt where that is not, for the pool's size says nothing.
std::optional<model::AttentionShape> pool_shape(const Dims& q, const Dims& pool,
                                                const Packed& packed) {
    const Count tokens = q.size() == 4 ? q[1] : 0;
    const Count sequences = q.size() == 4 ? q[0] : packed.sequences;
    if (packed.most_keys < 1 || sequences < 1 || sequences > elements_of(q)) {
        return std::nullopt;
    }
    model::AttentionShape shape;
    shape.batch = sequences;
    shape.groups = q[q.size() - 2];
    shape.m = q.size() == 4 ? tokens : std::max<Count>(1, (q[0] + sequences - 1) / sequences);
    shape.n = packed.most_keys;
    shape.k = q.back();
    const Count heads = pool[pool.size() - 2];
    shape.kv_heads = heads == shape.groups ? 0 : heads;
    const bool fine = shape.kv_heads == 0 || shape.groups % shape.kv_heads == 0;
    return fine ? std::optional(shape) : std::nullopt;
}

} // namespace

std::optional<OperatorLayer> custom_attention_of(const Operator& op) {
    const OperatorArgs args(op);
    const std::string lower = lowered(op.name);
    const bool backward =
        lower.find("backward") != std::string::npos || lower.find("bwd") != std::string::npos;
    const auto at = queries_at(args, backward ? 1 : 0);
    if (!at) {
        return std::nullopt;
    }
    const bool heads_first = lower.find("scaled_dot_product") != std::string::npos;
    const auto packed = packed_behind(args, *at + 2);
    const bool pool = args.dims(*at + 1).size() > args.dims(*at).size() || packed.pages;
    auto shape = pool ? pool_shape(args.dims(*at), args.dims(*at + 1), packed)
                      : attention_shape(args.dims(*at), args.dims(*at + 1),
                                        args.dims(*at + 2).back(), heads_first);
    if (!shape) {
        return std::nullopt;
    }
    const bool even = pool || args.dims(*at).size() != 3 ? !pool : split_evenly(packed, *shape);
    OperatorLayer made;
    const auto flag = causal_argument(op.name);
    const bool engine = lower.find("unified_attention") != std::string::npos || // of decoders
                        lower.find("vllm") != std::string::npos ||
                        lower.find("sgl_kernel") != std::string::npos;
    const std::string_view said = flag ? args.text(*flag) : std::string_view();
    const bool mask_type = op.name.find("_efficient_attention_forward") != std::string::npos;
    const bool causal = mask_type      ? !said.empty() && said != "0"
                        : said.empty() ? engine
                                       : said.starts_with("True");
    shape->causal = causal && shape->m <= shape->n;
    if (shape->causal && (mask_type ? said == "1" : heads_first)) {
        shape->n =
            shape->m; // PyTorch's first query sees the first key, FlashAttention's last the last
    }
    made.layer.op = model::Op::attention;
    made.layer.shape = *shape;
    const model::DataType type = args.type(*at);
    made.layer.types = {type, type, type};
    made.layer.direction = backward ? model::Direction::bwd_data : model::Direction::fwd;
    made.approximate = said.empty() || !even || (causal && !shape->causal);
    return model::validate(made.layer).has_errors() ? std::nullopt : std::optional(made);
}

namespace {

// Bits of one weight where so many packed words hold n x k of them; 0 for no usual number.
int packed_bits(Count words, int word_bytes, Count n, Count k) {
    const auto all = checked_mul(words, Count{8} * word_bytes);
    const auto weights = checked_mul(n, k);
    if (!all || !weights || *weights < 1 || *all % *weights != 0) {
        return 0;
    }
    const Count bits = *all / *weights;
    return bits == 4 || bits == 8 ? static_cast<int>(bits) : 0;
}

} // namespace

std::optional<OperatorLayer> packed_gemm_of(const Operator& op) {
    const OperatorArgs args(op);
    const auto whole = [&](std::size_t i) {
        const std::string_view type = args.type_name(i);
        return args.tensor(i) && args.dims(i).size() >= 2 &&
               (type == "int" || type == "unsigned char" || type == "Byte" ||
                type == "signed char");
    };
    std::size_t packed = 1;
    while (packed < args.size() && !whole(packed)) {
        ++packed;
    }
    if (packed == args.size() || !args.tensor(0) || args.dims(0).size() < 2 || whole(0)) {
        return std::nullopt;
    }
    if (whole(1) && whole(2) && args.dims(1).back() == args.dims(2).back()) {
        return std::nullopt; // both operands are packed, and what stands before is the product
    }
    const Count k = args.dims(0).back();
    const Count m = args.elements(0) / k;
    const auto made = [&](Count n) -> std::optional<OperatorLayer> {
        const int bits =
            packed_bits(args.elements(packed), element_bytes(args.type_name(packed)), n, k);
        if (bits == 0 || !fits_dimension(n) || !fits_dimension(m)) {
            return std::nullopt;
        }
        OperatorLayer layer;
        layer.layer.op = model::Op::gemm;
        layer.layer.shape = model::GemmShape{1, m, n, k};
        const model::DataType type = args.type(0);
        layer.layer.types = {type, bits == 4 ? model::DataType::int4 : model::DataType::int8, type};
        layer.approximate = true;
        return model::validate(layer.layer).has_errors() ? std::nullopt : std::optional(layer);
    };
    for (std::size_t i = packed + 1; i + 2 < args.size(); ++i) { // m, n, k among the arguments
        if (args.number(i) == m && args.number(i + 2) == k && args.number(i + 1)) {
            if (auto layer = made(*args.number(i + 1))) {
                return layer;
            }
        }
    }
    for (std::size_t i = packed + 1; i < args.size(); ++i) { // scales
        for (const Count n : args.dims(i)) {
            if (auto layer = args.tensor(i) && n > 1 ? made(n) : std::nullopt) {
                return layer;
            }
        }
    }
    return std::nullopt;
}

// Experts by their operands: tokens of a width, and for each expert a matrix into twice the inner
// width (both halves of a gate) and one back. Choices stand in a table of tokens.
std::optional<OperatorLayer> custom_experts_of(const Operator& op) {
    const OperatorArgs args(op);
    const std::string lower = lowered(op.name);
    const bool named =
        lower.find("expert") != std::string::npos || lower.find("moe") != std::string::npos;
    std::size_t first = 0;
    while (first < args.size() && !(args.tensor(first) && args.dims(first).size() == 2)) {
        ++first;
    }
    if (!named || first == args.size()) {
        return std::nullopt;
    }
    const Count tokens = args.dims(first)[0], width = args.dims(first)[1];
    for (std::size_t i = first + 1; i + 1 < args.size(); ++i) {
        const Dims &up = args.dims(i), &down = args.dims(i + 1);
        const bool pair = args.tensor(i) && args.tensor(i + 1) && up.size() == 3 &&
                          down.size() == 3 && up[0] == down[0] && up[2] == width &&
                          down[1] == width && up[1] == 2 * down[2];
        for (std::size_t j = i + 2; pair && j < args.size(); ++j) {
            const Dims& chosen = args.dims(j);
            if (!args.tensor(j) || chosen.size() != 2 || chosen[0] != tokens || chosen[1] > up[0]) {
                continue;
            }
            OperatorLayer made;
            made.layer.op = model::Op::moe;
            made.layer.shape = model::MoeShape{tokens, width, down[2], chosen[1], up[0]};
            const model::DataType type = args.type(first);
            made.layer.types = {type, args.type(i), type};
            made.approximate = true; // which experts were chosen is not recorded
            return model::validate(made.layer).has_errors() ? std::nullopt : std::optional(made);
        }
    }
    return std::nullopt;
}

namespace {

// "grouped_gemm_variable_k": gradients of experts' weights, whose groups share out the rows of both
// operands. `args`: [rows, m], [rows, n], and a size for each group.
std::optional<OperatorLayer> rows_shared_out(const OperatorArgs& args) {
    const bool fits = args.tensor(0) && args.tensor(1) && args.dims(0).size() == 2 &&
                      args.dims(1).size() == 2 && args.dims(0)[0] == args.dims(1)[0];
    const Count groups = holds_numbers(args, 2, 1) ? args.elements(2) : 1;
    if (!fits || groups < 1 || groups > args.dims(0)[0]) {
        return std::nullopt;
    }
    OperatorLayer made;
    made.layer.op = model::Op::bmm;
    made.layer.shape =
        model::GemmShape{groups, args.dims(0)[1], args.dims(1)[1], args.dims(0)[0] / groups};
    made.layer.types = {args.type(0), args.type(1), args.type(0)};
    made.approximate = true;
    return model::validate(made.layer).has_errors() ? std::nullopt : std::optional(made);
}

} // namespace

std::optional<OperatorLayer> custom_gemm_of(const Operator& op) {
    const OperatorArgs args(op);
    if (op.name.ends_with("variable_k")) {
        return rows_shared_out(args);
    }
    // "cutlass_scaled_fp4_mm(out, a, b, …)": the product of narrow operands stands before them.
    const auto narrow = [&args](std::size_t i) {
        return args.tensor(i) && args.dims(i).size() >= 2 && element_bytes(args.type_name(i)) == 1;
    };
    const bool out_first = !narrow(0) && narrow(1) && narrow(2);
    for (std::size_t a = out_first ? 1 : 0; a < args.size(); ++a) {
        const Dims& left = args.dims(a);
        if (!args.tensor(a) || left.size() < 2) {
            continue;
        }
        // Two values in a byte on both sides: "unsigned char" is no type to multiply.
        const bool bytes =
            args.type_name(a) == "unsigned char" || args.type_name(a) == "c10::Float4_e2m1fn_x2";
        const Count k = left.back();
        for (std::size_t b = a + 1; b < args.size(); ++b) {
            const Dims& right = args.dims(b);
            if (!args.tensor(b) || right.size() < 2 || right.size() > 3) {
                continue;
            }
            const Count last = right.back();
            const Count before = right[right.size() - 2];
            const bool byte = // that may hold two values, and has no arithmetic of its own
                element_bytes(args.type_name(b)) == 1 &&
                args.type_name(b).find("Float8") == std::string_view::npos &&
                (before != k || args.type_name(b) != "signed char");
            const bool packed = byte && 2 * last == k;
            const bool both_packed = bytes && args.type_name(b) == args.type_name(a);
            if (last != k && before != k && !packed) {
                continue;
            }
            const Count n = last == k || packed ? before : last;
            const Count groups = right.size() == 3 ? right[0] : 1;
            const Count rows = args.elements(a) / k;
            const Count m = groups > 1 ? std::max<Count>(1, rows / groups) : rows;
            if (!fits_dimension(m) || !fits_dimension(n) || !fits_dimension(k)) {
                continue;
            }
            OperatorLayer made;
            made.layer.op = groups > 1 ? model::Op::bmm : model::Op::gemm;
            made.layer.shape = model::GemmShape{groups, m, n, both_packed ? 2 * k : k};
            const model::DataType type = both_packed ? model::DataType::nvfp4 : args.type(a);
            made.layer.types = {type,
                                both_packed ? type
                                : packed    ? model::DataType::fp4
                                            : args.type(b),
                                type};
            if (both_packed) {
                made.layer.types.output = model::DataType::bf16;
            }
            if (model::is_narrow_float(type) || type == model::DataType::int8) {
                made.layer.types.output = model::DataType::bf16;
            }
            made.approximate = true;
            if (!model::validate(made.layer).has_errors()) {
                return made;
            }
        }
    }
    return std::nullopt;
}

} // namespace eyeroof::profiles
