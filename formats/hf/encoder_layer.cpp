#include "formats/hf/encoder_layer.hpp"

#include <fmt/format.h>

namespace eyeroof::formats::hf {

namespace {

Operator rows_of(const Tokens& tokens, const char* name, const std::string& cols, const char* fn) {
    return {
        tokens.prefix + name,
        fmt::format("op: elementwise, rows: \"={}\", cols: \"={}\", fn: {}", tokens.all, cols, fn),
        {}};
}

Operator product(std::string name, const std::string& batch, const std::string& m,
                 const std::string& n, const std::string& k) {
    return {std::move(name),
            fmt::format("op: bmm, batch: \"=batch*({})\", m: \"={}\", n: \"={}\", k: \"={}\"",
                        batch, m, n, k),
            {}};
}

// softmax(Q K) V of the layer's tokens over `seen` keys.
void attend(Block& block, const EncoderLayer& l, const std::string& prefix,
            const std::string& seen) {
    const std::string sharing = fmt::format("{}/{}", l.heads, l.kv);
    const std::string rows = fmt::format("{}*({})", l.tokens.own, sharing);
    const std::string each = text_of(l.kv);
    const std::string all = fmt::format("batch*{}*{}", l.heads, l.tokens.own);
    const std::string size = text_of(l.size);
    block.push_back(product(prefix + "scores", each, rows, seen, size));
    for (const auto& [name, fn] : {std::pair{"scale", "mulu"}, {"mask", "add"}}) {
        block.push_back(
            {prefix + name,
             fmt::format("op: elementwise, rows: \"={}\", cols: \"={}\", fn: {}", all, seen, fn),
             {}});
    }
    block.push_back({prefix + "softmax",
                     fmt::format("op: softmax, rows: \"={}\", cols: \"={}\"", all, seen),
                     {}});
    block.push_back(product(prefix + "mix", each, rows, size, seen));
}

} // namespace

Operator gemm_of(const Tokens& tokens, const char* name, Count outputs, Count inputs,
                 Count learned) {
    return {tokens.prefix + name,
            fmt::format("op: gemm, m: \"={}\", n: {}, k: {}, parameters: {}", tokens.all, outputs,
                        inputs, learned),
            {}};
}

Operator norm_of(const Tokens& tokens, const char* name, Count width, Count learned) {
    return {tokens.prefix + name,
            fmt::format("op: layernorm, rows: \"={}\", cols: {}, parameters: {}", tokens.all, width,
                        learned),
            {}};
}

Operator embedding_of(const Tokens& tokens, const char* name, Count width, Count rows) {
    return {tokens.prefix + name,
            fmt::format("op: embedding, rows: \"={}\", cols: {}, n: {}", tokens.all, width, rows),
            {}};
}

Operator values_of(const char* name, Count learned) {
    return weights_alone(name, text_of(learned));
}

Block encoder_layer(const EncoderLayer& l) {
    const Count queries = l.heads * l.size, keys = l.kv * l.size;
    const Count width = queries + 2 * keys;
    const Tokens& own = l.tokens;
    const Count qkv_biases = l.biases >= 3 ? width : l.biases == 2 ? queries + keys : 0;
    const Count out_bias = l.out_bias ? l.hidden : 0;
    Block block;
    for (Count i = 0; i < l.norms; ++i) {
        block.push_back(norm_of(own, "norm", l.hidden, l.norm_values * l.hidden));
    }
    block.push_back(
        gemm_of(own, "query_key_value", width, l.hidden, width * l.hidden + qkv_biases));
    if (l.rotary) {
        block.push_back(
            {own.prefix + "rotary",
             fmt::format("op: rope, rows: \"={}*{}\", cols: {}", own.all, l.heads + l.kv, l.size),
             {}});
    }
    attend(block, l, own.prefix,
           l.window > 0 ? fmt::format("min({}, {})", own.seen, l.window) : own.seen);
    block.push_back(gemm_of(own, "output", l.hidden, queries, queries * l.hidden + out_bias));
    if (l.reads_encoder) {
        const Count query_bias = l.biases > 0 ? queries : 0;
        block.push_back(
            gemm_of(own, "cross_query", queries, l.hidden, queries * l.hidden + query_bias));
        block.push_back(gemm_of({l.read.all, l.read.own, l.read.seen, own.prefix},
                                "cross_key_value", 2 * keys, l.hidden,
                                2 * keys * l.hidden + qkv_biases - query_bias));
        attend(block, l, own.prefix + "cross_", l.read.own);
        block.push_back(
            gemm_of(own, "cross_output", l.hidden, queries, queries * l.hidden + out_bias));
    }
    const Count up = l.gated ? 2 * l.inner : l.inner;
    block.push_back(gemm_of(own, l.gated ? "gate_up" : "up", up, l.hidden,
                            up * (l.hidden + (l.mlp_bias ? 1 : 0))));
    block.push_back(rows_of(own, "activation", text_of(l.inner), l.gated ? "swiglu" : "gelu"));
    block.push_back(
        gemm_of(own, "down", l.hidden, l.inner, l.inner * l.hidden + (l.mlp_bias ? l.hidden : 0)));
    if (l.extra > 0) {
        block.push_back(values_of("scales", l.extra));
    }
    block.push_back({own.prefix + "residual",
                     fmt::format("op: elementwise, rows: \"={}*({})\", cols: {}, fn: add",
                                 l.reads_encoder ? 3 : 2, own.all, l.hidden),
                     {}});
    return block;
}

Block with_shared_weights(Block block) {
    for (Operator& op : block) {
        const std::size_t at = op.fields.find(", parameters:");
        op.fields.resize(std::min(at, op.fields.size()));
        op.fields += ", parameters: 0";
    }
    return block;
}

} // namespace eyeroof::formats::hf
