// GEMMs and attention whose operator is no framework's: the first operands that fit one.
#include "base/ascii.hpp"
#include "profiles/operator_args.hpp"
#include "profiles/operator_layer.hpp"

#include <algorithm>

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

// Three operands one after the other that are queries, keys and values.
std::optional<std::size_t> queries_at(const OperatorArgs& args, std::size_t from) {
    for (std::size_t i = from; i + 2 < args.size(); ++i) {
        const Dims &q = args.dims(i), &k = args.dims(i + 1), &v = args.dims(i + 2);
        const bool tensors = args.tensor(i) && args.tensor(i + 1) && args.tensor(i + 2);
        if (tensors && (q.size() == 3 || q.size() == 4) && k.size() == q.size() &&
            v.size() == q.size() && q.back() == k.back()) {
            return i;
        }
    }
    return std::nullopt;
}

// [batch, heads, tokens, width], [batch, tokens, heads, width] or [tokens, heads, width].
std::optional<model::AttentionShape> attention_shape(const Dims& q, const Dims& k,
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
    const bool fine =
        (rank == 3 || q[0] == k[0]) && (shape.kv_heads == 0 || shape.groups % shape.kv_heads == 0);
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
    auto shape = attention_shape(args.dims(*at), args.dims(*at + 1), heads_first);
    if (!shape) {
        return std::nullopt;
    }
    OperatorLayer made;
    const auto flag = causal_argument(op.name);
    const bool engine = lower.find("unified_attention") != std::string::npos; // of decoders
    const std::string_view said = flag ? args.text(*flag) : std::string_view();
    shape->causal = shape->m == shape->n && (said.empty() ? engine : said.starts_with("True"));
    if (op.name.find("_efficient_attention_forward") != std::string::npos) {
        shape->causal = shape->m == shape->n && !said.empty() && said != "0"; // a mask's type
    }
    made.layer.op = model::Op::attention;
    made.layer.shape = *shape;
    const model::DataType type = args.type(*at);
    made.layer.types = {type, type, type};
    made.layer.direction = backward ? model::Direction::bwd_data : model::Direction::fwd;
    made.approximate = said.empty() || args.dims(*at).size() == 3;
    return model::validate(made.layer).has_errors() ? std::nullopt : std::optional(made);
}

std::optional<OperatorLayer> custom_gemm_of(const Operator& op) {
    const OperatorArgs args(op);
    for (std::size_t a = 0; a < args.size(); ++a) {
        const Dims& left = args.dims(a);
        if (!args.tensor(a) || left.size() < 2) {
            continue;
        }
        const Count k = left.back();
        for (std::size_t b = a + 1; b < args.size(); ++b) {
            const Dims& right = args.dims(b);
            if (!args.tensor(b) || right.size() < 2 || right.size() > 3) {
                continue;
            }
            const Count last = right.back();
            const Count before = right[right.size() - 2];
            const bool packed = element_bytes(args.type_name(b)) == 1 && 2 * last == k;
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
            made.layer.shape = model::GemmShape{groups, m, n, k};
            const model::DataType type = args.type(a);
            made.layer.types = {type, packed ? model::DataType::fp4 : args.type(b), type};
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
