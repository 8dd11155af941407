// The operators of a serving engine's step, as networks that are examined.
#include "analysis/scale/serving.hpp"
#include "analysis/scale/split.hpp"
#include "model/gpu/grouped.hpp"
#include "model/workload/experts.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis {

using model::DataType;
using model::Layer;
using model::Op;

namespace {

// Operators of a step, in order. Products have the scenario's types, all else is wide.
class ServedBlock {
  public:
    ServedBlock(const char* id, const Transformer& t, const ServingOptions& o, Count count)
        : o_(o), wide_attention_(o.wide_attention(t)), count_(count) {
        network_.id = network_.name = id;
    }
    void add(const char* name, Op op, model::Shape shape, DataType type) {
        Layer layer;
        layer.name = name;
        layer.op = op;
        layer.shape = std::move(shape);
        layer.types = {type, type, type};
        layer.count = count_;
        network_.layers.push_back(std::move(layer));
    }
    void wide(const char* name, Op op, model::Shape shape) {
        add(name, op, std::move(shape), o_.wide());
    }
    void typed_product(const char* name, Op op, model::Shape shape) {
        add(name, op, std::move(shape), o_.type);
        network_.layers.back().types = {o_.type, o_.weights(), o_.wide()};
    }
    void product(const char* name, Count m, Count n, Count k) {
        typed_product(name, Op::gemm, model::GemmShape{1, m, n, k});
    }
    void attention_product(const char* name, Count m, Count n, Count k) {
        attention_product(name, Op::gemm, model::GemmShape{1, m, n, k});
    }
    void attention_product(const char* name, Op op, model::Shape shape) {
        if (wide_attention_) {
            wide(name, op, std::move(shape));
        } else {
            typed_product(name, op, std::move(shape));
        }
    }
    void pointwise(const char* name, Count rows, Count cols, const char* fn) {
        wide(name, Op::elementwise, model::ElementwiseShape{rows, cols, fn});
    }
    void times(Count count) { count_ = count; }
    model::Network take() { return std::move(network_); }

  private:
    const ServingOptions& o_;
    bool wide_attention_;
    Count count_;
    model::Network network_;
};

void add_plain(ServedBlock& ops, const Transformer& t, Count inner, Count words) {
    ops.product("up", words, t.gated ? 2 * inner : inner, t.hidden);
    ops.pointwise("activation", words, inner, t.gated ? "swiglu" : "gelu");
    ops.product("down", words, t.hidden, inner);
}

// Experts that have a token, as products of their own.
void add_experts(ServedBlock& ops, const Transformer& t, Count inner, Count routed, Count own) {
    const Count up = t.gated ? 2 * inner : inner;
    const auto reached = static_cast<Count>(std::ceil(
        model::expected_experts(static_cast<double>(routed), 1.0, static_cast<double>(own)) -
        1e-9));
    const Count each = part(routed, reached);
    ops.typed_product("up", Op::bmm, model::GemmShape{reached, each, up, t.hidden});
    ops.pointwise("activation", routed, inner, t.gated ? "swiglu" : "gelu");
    ops.typed_product("down", Op::bmm, model::GemmShape{reached, each, t.hidden, inner});
    ops.pointwise("combine", routed, t.hidden, "mulu");
}

// Of a device's experts, whose tokens come from all replicas. `fused`: the engine's own kernel of
// gated experts, with routing inside.
void add_routed(ServedBlock& ops, const Transformer& t, const ServerLayout& layout,
                Count everywhere, bool fused) {
    const Count inner = part(t.inner, layout.expert_part());
    const Count routed = part(everywhere * t.active, layout.expert);
    const Count own = part(t.experts, layout.expert);
    if (t.gated && fused) {
        const Count each = std::min(part(t.active, layout.expert), own); // of a token
        ops.typed_product("experts", Op::moe,
                          model::MoeShape{part(routed, each), t.hidden, inner, each, own});
    } else {
        add_experts(ops, t, inner, routed, own);
    }
}

void add_feed_forward(ServedBlock& ops, const Transformer& t, const ServerLayout& layout,
                      Count words, bool fused) {
    if (t.experts <= 1) {
        add_plain(ops, t, part(t.inner, layout.tensor), words);
        return;
    }
    ops.attention_product("router", words, t.experts, t.hidden);
    add_routed(ops, t, layout, words * layout.data, fused);
    if (t.shared > 0) {
        add_plain(ops, t, part(t.shared * t.inner, layout.tensor), words);
    }
}

void add_queries(ServedBlock& ops, const Transformer& t, Count tensor, Count words, bool apart) {
    const Count heads = part(t.heads, tensor);
    const Count kv = part(t.kv_heads, tensor);
    if (!t.latent.rank) {
        const Count queries = t.gated_attention ? 2 * heads : heads;
        ops.attention_product("qkv", words, (queries + 2 * kv) * t.head_size, t.hidden);
        if (t.positions == 0 && apart) {
            ops.wide("rotary", Op::rope, model::RowsShape{words * (heads + kv), t.head_size});
        }
        if (apart) {
            ops.pointwise("cache", words, 2 * kv * t.head_size, "copy");
        }
        return;
    }
    const Latent& l = t.latent;
    ops.attention_product("latents", words, l.query_rank + l.rank + l.rotary, t.hidden);
    ops.wide("latent_norm", Op::layernorm, model::RowsShape{words, l.query_rank + l.rank});
    ops.attention_product("query_up", words, heads * t.head_size, l.query_rank);
    if (apart) {
        ops.wide("rotary", Op::rope, model::RowsShape{words * (heads + 1), l.rotary});
        ops.pointwise("cache", words, l.rank + l.rotary, "copy");
    }
}

// What a layer mixes tokens with, but for attention or its state themselves: products before and
// behind. `tensor` divides heads. `apart`: rotation and cache by kernels of their own.
void add_mixers(ServedBlock& ops, const Transformer& t, Count tensor, Count tokens, bool apart) {
    if (t.attention_layers() > 0) {
        const Count values = part(t.heads, tensor) * t.value_size();
        ops.times(t.attention_layers());
        add_queries(ops, t, tensor, tokens, apart);
        if (t.gated_attention) {
            ops.pointwise("gate", tokens, values, "swiglu");
        }
        ops.attention_product("output", tokens, t.hidden, values);
    }
    if (t.states.layers > 0) {
        const Count mixed = part(t.states.mixed(), tensor);
        const Count heads = part(t.states.values, tensor);
        const Count values = heads * t.states.size;
        ops.times(t.states.layers);
        ops.product("state_in", tokens, mixed + values + 2 * heads, t.hidden);
        ops.pointwise("convolution", tokens, mixed, "silu"); // few taps: one pass over its rows
        ops.wide("state_norm", Op::layernorm, model::RowsShape{tokens * heads, t.states.size});
        ops.pointwise("state_gate", tokens, values, "swiglu");
        ops.product("state_out", tokens, t.hidden, values);
    }
}

} // namespace

DataType ServingOptions::wide() const {
    return model::storage_bits(type) >= 16 ? type : beside_narrow;
}

bool ServingOptions::wide_attention(const Transformer& t) const {
    return t.experts > 1 && model::storage_bits(weights()) == 4 &&
           (type == weights() || weights() != DataType::int4);
}

DataType ServingOptions::cache() const {
    return cache_type.value_or(engine.narrow_cache && model::storage_bits(weights()) <= 8 &&
                                       model::storage_bits(type) <= 8
                                   ? DataType::fp8
                                   : wide());
}

model::Network serving_body(const Transformer& t, const ServerLayout& layout, Count tokens,
                            const ServingOptions& o) {
    const Count tensor = layout.tensor;
    ServedBlock ops("body", t, o, 1);
    ops.wide("embedding", Op::embedding, model::RowsShape{tokens, t.hidden, t.vocabulary});
    ops.times(t.layers);
    const bool norms = tensor == 1 || !o.engine.norm_in_reduce;
    if (norms) {
        ops.wide("attention_norm", Op::layernorm, model::RowsShape{tokens, t.hidden});
    }
    add_mixers(ops, t, tensor, tokens, !o.engine.rotary_in_attention);
    ops.times(t.layers);
    if (norms) {
        ops.pointwise("residual", tokens, t.hidden, "add");
        ops.wide("ffn_norm", Op::layernorm, model::RowsShape{tokens, t.hidden});
    }
    if (t.dense_layers > 0) {
        ops.times(t.dense_layers);
        add_plain(ops, t, part(t.dense_inner, tensor), tokens);
    }
    ops.times(t.layers - t.dense_layers);
    if (t.layers > t.dense_layers) {
        add_feed_forward(ops, t, layout, tokens, o.engine.fused && o.weights() == o.type);
    }
    if (norms) {
        ops.times(t.layers);
        ops.pointwise("ffn_residual", tokens, t.hidden, "add");
    }
    return ops.take();
}

model::Network serving_experts(const Transformer& t, const ServerLayout& layout, Count everywhere,
                               const ServingOptions& o) {
    ServedBlock ops("experts", t, o, t.layers - t.dense_layers);
    add_routed(ops, t, layout, everywhere, o.engine.fused && o.weights() == o.type);
    return ops.take();
}

model::Network serving_shared_experts(const Transformer& t, Count tensor, Count tokens,
                                      const ServingOptions& o) {
    ServedBlock ops("shared_experts", t, o, t.layers - t.dense_layers);
    add_plain(ops, t, part(t.shared * t.inner, tensor), tokens);
    return ops.take();
}

model::Network serving_head(const Transformer& t, Count tensor, Count rows,
                            const ServingOptions& o) {
    ServedBlock ops("head", t, o, 1);
    ops.wide("norm", Op::layernorm, model::RowsShape{rows, t.hidden});
    const Count vocabulary = part(t.vocabulary, tensor);
    if (model::storage_bits(o.type) >= 16) {
        ops.product("head", rows, vocabulary, t.hidden);
    } else { // engines keep it in 16 bits beside products of fewer
        ops.wide("head", Op::gemm, model::GemmShape{1, rows, vocabulary, t.hidden});
    }
    return ops.take();
}

namespace {

// Few new tokens meet the latent itself (absorbed): heads with keys of r + d_r and values of r that
// all share, and two products a head with its parts of the up-projection. Prompts make keys and
// values of all that they see. Source: DeepSeek-AI, arXiv:2405.04434, section 2.1 and appendix C.
void add_latent_attention(ServedBlock& ops, const Transformer& t, Count tensor, Count batch,
                          Count fresh, Count seen, DataType type) {
    constexpr Count kAbsorbedBelow = 16; // new tokens of a sequence; a choice without a source
    const Latent& l = t.latent;
    const Count heads = part(t.heads, tensor);
    const Count plain = t.head_size - l.rotary;
    if (fresh < kAbsorbedBelow) {
        const Count words = batch * fresh;
        ops.attention_product("query_absorbed", Op::bmm,
                              model::GemmShape{heads, words, l.rank, plain});
        ops.add(
            "attention", Op::attention,
            model::AttentionShape{batch, heads, fresh, seen, l.rank + l.rotary, 1, true, 0, l.rank},
            type);
        ops.attention_product("value_absorbed", Op::bmm,
                              model::GemmShape{heads, words, l.value, l.rank});
        return;
    }
    ops.attention_product("keys_values", Op::gemm,
                          model::GemmShape{1, batch * seen, heads * (plain + l.value), l.rank});
    ops.add("attention", Op::attention,
            model::AttentionShape{batch, heads, fresh, seen, t.head_size, heads, true, 0, l.value},
            type);
}

} // namespace

model::Network serving_attention(const Transformer& t, Count tensor, Count batch, Count fresh,
                                 Count context, const ServingOptions& o) {
    const Count seen = context + fresh;
    const DataType type = o.cache();
    const Count heads = part(t.heads, tensor);
    const Count kv = part(t.kv_heads, tensor);
    ServedBlock ops("attention", t, o, t.full_layers());
    if (t.latent.rank > 0) {
        add_latent_attention(ops, t, tensor, batch, fresh, seen, type);
    } else if (t.full_layers() > 0) {
        ops.add("attention", Op::attention,
                model::AttentionShape{batch, heads, fresh, seen, t.head_size, kv, true, 0}, type);
    }
    if (t.window.layers > 0) {
        const Count near = std::min(seen, t.window.keys + fresh - 1);
        ops.times(t.window.layers);
        ops.add("attention_window", Op::attention,
                model::AttentionShape{batch, heads, fresh, near, t.head_size, kv, true,
                                      near > t.window.keys ? t.window.keys : 0},
                type);
    }
    return ops.take();
}

// A sequence's next token reads and writes the states of all heads of values, in 32 bits.
model::Network serving_states(const Transformer& t, Count tensor, Count sequences,
                              const ServingOptions& o) {
    const StateLayers& s = t.states;
    ServedBlock ops("states", t, o, s.layers);
    ops.add("state", Op::elementwise,
            model::ElementwiseShape{sequences * part(s.values, tensor), s.size * s.size, "mulu"},
            DataType::fp32);
    return ops.take();
}

// Chunks of 64 tokens: products within a chunk and with its state, in 16 bits. Source: Yang et al.,
// arXiv:2412.06464, section 3.3.
model::Network serving_prompt_states(const Transformer& t, Count tensor, Count tokens,
                                     const ServingOptions& o) {
    constexpr Count kChunk = 64;
    const StateLayers& s = t.states;
    const Count chunk = std::min(kChunk, tokens);
    const Count chunks = part(tokens, chunk) * part(s.values, tensor);
    ServedBlock ops("prompt_states", t, o, s.layers);
    const auto product = [&](const char* name, Count m, Count n, Count k) {
        ops.add(name, Op::bmm, model::GemmShape{chunks, m, n, k}, o.wide());
    };
    product("key_products", chunk, chunk, s.size);
    product("rows_solved", chunk, 2 * s.size, chunk);
    product("own_scores", chunk, chunk, s.size);
    product("own_mix", chunk, s.size, chunk);
    product("state_read", 2 * chunk, s.size, s.size);
    product("state_write", s.size, s.size, chunk);
    ops.pointwise("hand_on", chunks, s.size * s.size, "add");
    return ops.take();
}

double cache_bytes(const Transformer& t, Count tensor, DataType type, Count tokens) {
    const Count values = t.latent.rank > 0 ? t.latent.rank + t.latent.rotary
                                           : 2 * part(t.kv_heads, tensor) * t.head_size;
    const auto kept = static_cast<double>(t.full_layers() * tokens +
                                          t.window.layers * std::min(tokens, t.window.keys));
    const StateLayers& s = t.states;
    const auto states = static_cast<double>(s.layers * part(s.values, tensor) * s.size * s.size);
    const auto taps =
        static_cast<double>(s.layers * part(s.mixed(), tensor) * std::max<Count>(s.taps - 1, 0));
    return kept * static_cast<double>(values) * model::bytes_per_element(type) + 4.0 * states +
           2.0 * taps;
}

} // namespace eyeroof::analysis
