#include "formats/hf/parts.hpp"

#include <fmt/format.h>

namespace eyeroof::formats::hf {

namespace {

Operator typed(Operator op, const std::string& types) {
    op.types = types;
    return op;
}

Operator bmm(const char* name, const std::string& batch, const std::string& m, const std::string& n,
             const std::string& k, const std::string& parameters = {}) {
    return {name,
            fmt::format("op: bmm, batch: \"={}\", m: \"={}\", n: \"={}\", k: \"={}\"{}", batch, m,
                        n, k,
                        parameters.empty() ? "" : fmt::format(", parameters: \"={}\"", parameters)),
            {}};
}

Operator rope(Count heads, Count size) {
    return {"rotary", fmt::format("op: rope, rows: \"=words*{}\", cols: {}", heads, size), {}};
}

// Keys that a step of `new` tokens reads, of a window or of all.
std::string seen_by(Count window) {
    return window > 0 ? fmt::format("min(seen, {}+new-1)", window) : "seen";
}

// New tokens' keys and values, behind those of earlier tokens that a layer still sees.
Operator cache(const std::string& cols, Count window) {
    Operator made = pointwise("cache", "words", cols, "copy");
    made.fields +=
        fmt::format(", cached: \"=batch*{}*({})\"",
                    window > 0 ? fmt::format("min(context, {})", window - 1) : "context", cols);
    return made;
}

std::string window_column(Count window) {
    return window > 0 ? fmt::format(", window: {}", window) : "";
}

void append(Block& block, Block more) {
    block.insert(block.end(), more.begin(), more.end());
}

// Products, softmax, and what stands between, over `keys` of the cache.
Block scores_and_mix(const std::string& kv, const std::string& sharing, const std::string& size,
                     const std::string& value, Count window, const std::string& keys,
                     const std::string& sinks) {
    const std::string rows = fmt::format("batch*new*({})*({})", kv, sharing);
    const std::string m = fmt::format("new*({})", sharing);
    const std::string batch = fmt::format("batch*({})", kv);
    Block block = {bmm("scores", batch, m, keys, size),
                   pointwise("scale", rows, keys, "mulu"),
                   pointwise("mask", rows, keys, "add"),
                   {"softmax",
                    fmt::format("op: softmax, rows: \"={}\", cols: \"={}{}\"{}{}", rows, keys,
                                sinks.empty() ? "" : "+1", window_column(window),
                                sinks.empty() ? "" : fmt::format(", parameters: \"={}\"", sinks)),
                    {}},
                   bmm("mix", batch, m, value, keys)};
    return block;
}

std::string norm_size(const Attention& a, Count heads) {
    return a.norm == QkNorm::head              ? text_of(a.size)
           : a.norm == QkNorm::head_with_shift ? text_of(2 * a.size)
           : a.norm == QkNorm::plain_head      ? "0"
                                               : times(text_of(heads), text_of(a.size));
}

Operator qk_norm(const Attention& a, const char* name, Count heads) {
    const bool whole = a.norm == QkNorm::all;
    return norm(name, whole ? "words" : fmt::format("words*{}", heads),
                whole ? times(text_of(heads), text_of(a.size)) : text_of(a.size),
                norm_size(a, heads));
}

// Of experts that so many tokens reach by uniform routing: all that they can.
std::string reached(const Experts& e) {
    return fmt::format("min({}, words*{})", e.experts, e.active);
}

} // namespace

Block attention(const Attention& a) {
    const Count value = a.value_size > 0 ? a.value_size : a.size;
    const std::string hidden = text_of(a.hidden);
    Block block = {
        typed(gemm("query", fmt::format("{}{}*{}", a.gate_in_query ? "2*" : "", a.heads, a.size),
                   hidden, a.in_bias),
              a.types)};
    if (!a.shared_keys) {
        const std::string outputs = a.value_is_key ? fmt::format("{}*{}", a.kv, a.size)
                                                   : fmt::format("{}*({}+{})", a.kv, a.size, value);
        block.push_back(typed(gemm("key_value", outputs, hidden, a.in_bias), a.types));
    }
    if (a.norm != QkNorm::none) {
        block.push_back(qk_norm(a, "query_norm", a.heads));
        if (!a.shared_keys) {
            block.push_back(qk_norm(a, "key_norm", a.kv));
        }
    }
    if (a.rotary) {
        block.push_back(rope(a.heads + (a.shared_keys ? 0 : a.kv), a.size));
    }
    if (!a.shared_keys) {
        block.push_back(cache(fmt::format("{}*({}+{})", a.kv, a.size, value), a.window));
    }
    std::string keys = seen_by(a.window);
    if (a.index_heads > 0) {
        const std::string size = text_of(a.index_size);
        append(block,
               {gemm("index_query", fmt::format("{}*{}", a.index_heads, size), hidden),
                gemm("index_key", size, hidden),
                norm("index_norm", fmt::format("words*{}", a.index_heads + 1), size, "2*" + size),
                bmm("index_scores", "batch", fmt::format("new*{}", a.index_heads), "seen", size)});
        keys = fmt::format("min(seen, {})", a.index_top);
    }
    append(block, scores_and_mix(text_of(a.kv), fmt::format("{}/{}", a.heads, a.kv),
                                 text_of(a.size), text_of(value), a.window, keys,
                                 a.sinks ? text_of(a.heads) : std::string()));
    if (a.gate > 0) {
        block.push_back(typed(gemm("attention_gate", text_of(a.gate), hidden), a.types));
    }
    if (a.gate > 0 || a.gate_in_query) {
        block.push_back(pointwise("gate", "words", fmt::format("{}*{}", a.heads, value), "swiglu"));
    }
    block.push_back(typed(gemm("output", hidden, fmt::format("{}*{}", a.heads, value), a.out_bias),
                          a.out_types.value_or(a.types)));
    return block;
}

Block latent_attention(const LatentAttention& a) {
    const std::string hidden = text_of(a.hidden);
    const std::string key = fmt::format("({}+{})", a.plain, a.rotary);
    const std::string queries = fmt::format("{}*{}", a.heads, key);
    Block block;
    if (a.query_rank > 0) {
        const std::string rank = text_of(a.query_rank);
        block = {typed(gemm("query_down", rank, hidden, a.bias), a.types),
                 norm("query_norm", "words", rank, rank),
                 typed(gemm("query_up", queries, rank), a.types)};
    } else {
        block = {typed(gemm("query", queries, hidden), a.types)};
    }
    block.push_back(
        typed(gemm("latent", fmt::format("{}+{}", a.latent, a.rotary), hidden, a.bias), a.types));
    block.push_back(norm("latent_norm", "words", text_of(a.latent), text_of(a.latent)));
    block.push_back(rope(a.heads + 1, a.rotary));
    block.push_back(cache(fmt::format("{}+{}", a.latent, a.rotary), 0));
    const std::string keys =
        a.index_top > 0 ? fmt::format("min(seen, {})", a.index_top) : std::string("seen");
    if (a.index_heads > 0) {
        const std::string from = text_of(a.query_rank > 0 ? a.query_rank : a.hidden);
        block.push_back(
            gemm("index_query", fmt::format("{}*{}", a.index_heads, a.index_size), from));
        block.push_back(gemm("index_key", text_of(a.index_size), hidden));
        block.push_back(
            norm("index_norm", "words", text_of(a.index_size), fmt::format("2*{}", a.index_size)));
        block.push_back(gemm("index_weights", text_of(a.index_heads), hidden));
        block.push_back(bmm("index_scores", "batch", fmt::format("new*{}", a.index_heads), "seen",
                            text_of(a.index_size)));
    }
    const std::string values = fmt::format("{}*({}+{})", a.heads, a.plain, a.value);
    Operator expand = gemm("keys_values", values, text_of(a.latent));
    expand.fields = fmt::format("op: gemm, m: \"=batch*seen\", n: \"={}\", k: {}, when: meets == 0",
                                values, a.latent);
    block.push_back(typed(expand, a.types));
    const auto absorbed = [&](const char* name, Count n, Count k) {
        Operator op = bmm(name, text_of(a.heads), "words", text_of(n), text_of(k),
                          fmt::format("{}*{}*{}", a.heads, n, k));
        op.fields += ", when: meets";
        return typed(op, a.types);
    };
    const auto when = [](Operator op, const char* condition) {
        op.fields += fmt::format(", when: {}", condition);
        return op;
    };
    const std::string each = fmt::format("batch*{}", a.heads);
    const std::string rows = fmt::format("batch*{}*new", a.heads);
    const std::string many = fmt::format("new*{}", a.heads);
    block.push_back(absorbed("query_absorbed", a.latent, a.plain));
    block.push_back(when(bmm("scores", each, "new", keys, key), "meets == 0"));
    block.push_back(
        when(bmm("scores_absorbed", "batch", many, keys, fmt::format("{}+{}", a.latent, a.rotary)),
             "meets"));
    block.push_back(pointwise("scale", rows, keys, "mulu"));
    block.push_back(pointwise("mask", rows, keys, "add"));
    block.push_back(
        {"softmax", fmt::format("op: softmax, rows: \"={}\", cols: \"={}\"", rows, keys), {}});
    block.push_back(when(bmm("mix", each, "new", text_of(a.value), keys), "meets == 0"));
    block.push_back(when(bmm("mix_absorbed", "batch", many, text_of(a.latent), keys), "meets"));
    block.push_back(absorbed("value_absorbed", a.value, a.latent));
    block.push_back(typed(gemm("output", hidden, fmt::format("{}*{}", a.heads, a.value), a.bias),
                          a.out_types.value_or(a.types)));
    return block;
}

namespace {

// Keys of `rate` tokens each: two outputs and a learned place for each token of a group.
void add_compressor(Block& block, const char* name, const std::string& hidden, Count size,
                    Count rate, Count wide) {
    const std::string outputs = fmt::format("2*{}*{}", wide, size);
    Operator project = gemm(name, outputs, hidden);
    block.push_back(project);
    block.push_back(
        pointwise("compress", "words", outputs, "mul", fmt::format("{}*{}*{}", rate, wide, size)));
    block.push_back(norm("compressed_norm", fmt::format("batch*ceil(new/{})", rate), text_of(size),
                         text_of(size)));
}

} // namespace

Block compressed_attention(const CompressedAttention& a) {
    const std::string hidden = text_of(a.hidden);
    const std::string rank = text_of(a.query_rank);
    const std::string size = text_of(a.size);
    const std::string all = fmt::format("{}*{}", a.heads, a.size);
    Block block = {typed(gemm("query_down", rank, hidden), a.types),
                   norm("query_norm", "words", rank, rank),
                   typed(gemm("query_up", all, rank), a.types),
                   norm("query_unit", fmt::format("words*{}", a.heads), size, "0"),
                   typed(gemm("key_value", size, hidden), a.types),
                   norm("key_norm", "words", size, size),
                   rope(a.heads + 1, a.rotary),
                   cache(size, a.window)};
    std::string keys = seen_by(a.window);
    const bool chosen = a.index_heads > 0;
    if (a.rate > 0) {
        const Count wide = chosen ? 2 : 1;
        add_compressor(block, "compressed_key", hidden, a.size, a.rate, wide);
        const std::string compressed = fmt::format("ceil(seen/{})", a.rate);
        if (chosen) {
            add_compressor(block, "index_key", hidden, a.index_size, a.rate, wide);
            block.push_back(
                gemm("index_query", fmt::format("{}*{}", a.index_heads, a.index_size), rank));
            block.push_back(gemm("index_weights", text_of(a.index_heads), hidden));
            block.push_back(bmm("index_scores", "batch", fmt::format("new*{}", a.index_heads),
                                compressed, text_of(a.index_size)));
            keys += fmt::format("+min({}, {})", a.index_top, compressed);
        } else {
            keys += "+" + compressed;
        }
    }
    const std::string rows = fmt::format("batch*{}*new", a.heads);
    const std::string many = fmt::format("new*{}", a.heads);
    const std::string group = fmt::format("{}/{}", all, a.output_groups);
    append(block,
           {bmm("scores", "batch", many, keys, size),
            pointwise("scale", rows, keys, "mulu"),
            pointwise("mask", rows, keys, "add"),
            {"softmax",
             fmt::format("op: softmax, rows: \"={}\", cols: \"={}+1\", parameters: {}", rows, keys,
                         a.heads),
             {}},
            bmm("mix", "batch", many, size, keys),
            typed(bmm("output_down", text_of(a.output_groups), "words", text_of(a.output_rank),
                      group, fmt::format("{}*{}", all, a.output_rank)),
                  a.types),
            typed(gemm("output", hidden, fmt::format("{}*{}", a.output_groups, a.output_rank)),
                  a.types)});
    return block;
}

namespace {

Operator depthwise(const std::string& channels, Count taps, bool bias) {
    return {"conv",
            fmt::format("op: conv2d, n: =batch, c: \"={0}\", h: \"=new+{1}-1\", w: 1, k: \"={0}\", "
                        "r: {1}, s: 1, groups: \"={0}\"{2}",
                        channels, taps, bias ? ", bias: 1" : ""),
            {}};
}

Block first_mamba(const StateSpace& s) {
    const std::string inner = text_of(s.inner);
    const std::string hidden = text_of(s.hidden);
    const std::string states = fmt::format("{}*{}", s.inner, s.state);
    Block block = {
        typed(gemm("in", "2*" + inner, hidden, s.bias), s.types),
        depthwise(inner, s.taps, s.conv_bias), pointwise("conv_silu", "words", inner, "silu"),
        typed(gemm("selection", fmt::format("{}+2*{}", s.rank, s.state), inner), s.types)};
    if (s.inner_norms) {
        block.push_back(norm("selection_norm", "words", fmt::format("{}+2*{}", s.rank, s.state),
                             fmt::format("{}+2*{}", s.rank, s.state)));
    }
    append(block,
           {typed(gemm("step", inner, text_of(s.rank), true), s.types),
            pointwise("step_size", "words", inner, "softplus"),
            pointwise("decay", "words", states, "exp", fmt::format("{}+{}", states, inner)),
            pointwise("state", "words", states, "mul"), pointwise("read", "words", states, "mul"),
            pointwise("gate", "words", inner, "swiglu"),
            typed(gemm("out", hidden, inner, s.bias), s.types)});
    return block;
}

} // namespace

Block state_space(const StateSpace& s) {
    if (s.rank > 0) {
        return first_mamba(s);
    }
    const std::string inner = text_of(s.inner);
    const std::string hidden = text_of(s.hidden);
    const std::string mixed = fmt::format("({}+2*{}*{})", s.inner, s.groups, s.state);
    const std::string part = fmt::format("min({}, new)", s.chunk);
    const std::string chunks = fmt::format("batch*ceil(new/{})", part);
    const std::string rows = fmt::format("{}*{}*{}", chunks, s.heads, part);
    const std::string size = fmt::format("{}/{}", s.inner, s.heads);
    const std::string each = fmt::format("{}*{}", chunks, s.heads);
    const std::string state = text_of(s.state);
    Block block = {
        typed(gemm("in", fmt::format("{}+{}+{}", inner, mixed, s.heads), hidden, s.bias), s.types),
        depthwise(mixed, s.taps, s.conv_bias),
        pointwise("conv_silu", "words", mixed, "silu"),
        pointwise("step", "words", text_of(s.heads), "softplus", fmt::format("3*{}", s.heads)),
        pointwise("input_scale", "words", inner, "mul"),
        pointwise("decay", rows, part, "exp"),
        bmm("scores", fmt::format("{}*{}", chunks, s.groups), part, part, state),
        pointwise("mask", rows, part, "mul"),
        bmm("mix", each, part, size, part),
        bmm("states", each, state, size, part),
        pointwise("hand_on", each, fmt::format("{}*{}", state, size), "add"),
        bmm("read", each, part, size, state),
        pointwise("join", "2*words", inner, "add"),
        pointwise("gate", "words", inner, "swiglu")};
    if (s.gate_norm) {
        block.push_back(norm("gate_norm", "words", inner, inner));
    }
    block.push_back(typed(gemm("out", hidden, inner, s.bias), s.types));
    return block;
}

Block delta_rule(const DeltaRule& d) {
    const std::string hidden = text_of(d.hidden);
    const std::string values = fmt::format("({}*{})", d.values, d.value_size);
    const std::string mixed =
        fmt::format("(2*{}*{}+{}*{})", d.keys, d.key_size, d.values, d.value_size);
    const std::string part = "min(64, new)"; // tokens of a chunk
    const std::string chunks = fmt::format("batch*ceil(new/{})*{}", part, d.values);
    const std::string rows = fmt::format("{}*{}", chunks, part);
    const std::string key = text_of(d.key_size);
    const std::string value = text_of(d.value_size);
    return {typed(gemm("state_in", fmt::format("{}+{}", mixed, values), hidden), d.types),
            gemm("state_rates", fmt::format("2*{}", d.values), hidden),
            depthwise(mixed, d.taps, false),
            pointwise("conv_silu", "words", mixed, "silu"),
            pointwise("rates", "words", fmt::format("2*{}", d.values), "softplus",
                      fmt::format("2*{}", d.values)),
            norm("state_qk_norm", fmt::format("2*words*{}", d.keys), key, "0"),
            bmm("key_products", chunks, part, part, key),
            pointwise("decay", rows, part, "exp"),
            bmm("rows_solved", chunks, part, fmt::format("{}+{}", key, value), part),
            bmm("own_scores", chunks, part, part, key),
            pointwise("own_mask", rows, part, "mul"),
            bmm("own_mix", chunks, part, value, part),
            bmm("state_read", fmt::format("2*{}", chunks), part, value, key),
            bmm("state_write", chunks, key, value, part),
            pointwise("hand_on", chunks, fmt::format("{}*{}", key, value), "add"),
            norm("state_norm", fmt::format("words*{}", d.values), value, value),
            pointwise("state_gate", "words", values, "swiglu"),
            typed(gemm("state_out", hidden, values), d.types)};
}

Block kimi_delta(Count hidden, Count heads, Count size, Count taps, const std::string& types) {
    const std::string width = text_of(hidden);
    const std::string inner = fmt::format("({}*{})", heads, size);
    const std::string part = "min(64, new)"; // tokens of a chunk
    const std::string chunks = fmt::format("batch*ceil(new/{})*{}", part, heads);
    const std::string rows = fmt::format("{}*{}", chunks, part);
    const std::string one = text_of(size);
    Block block = {
        typed(gemm("state_in", "3*" + inner, width), types),
        depthwise("3*" + inner, taps, false),
        pointwise("conv_silu", "words", "3*" + inner, "silu"),
        gemm("decay_down", one, width),
        gemm("decay_up", inner, one),
        pointwise("decay_rates", "words", inner, "softplus", fmt::format("{}+{}", inner, heads)),
        gemm("state_rates", text_of(heads), width),
        norm("state_qk_norm", fmt::format("2*words*{}", heads), one, "0")};
    append(block,
           {bmm("key_products", chunks, part, part, one),
            bmm("rows_solved", chunks, part, "2*" + one, part),
            bmm("own_scores", chunks, part, part, one), pointwise("own_mask", rows, part, "mul"),
            bmm("own_mix", chunks, part, one, part),
            bmm("state_read", fmt::format("2*{}", chunks), part, one, one),
            bmm("state_write", chunks, one, one, part), gemm("gate_down", one, width),
            gemm("gate_up", inner, one),
            norm("state_norm", fmt::format("words*{}", heads), one, one),
            pointwise("state_gate", "words", inner, "swiglu"),
            typed(gemm("state_out", width, inner), types)});
    return block;
}

Block rwkv_mixer(Count hidden, Count inner) {
    const std::string width = text_of(hidden);
    const std::string wide = text_of(inner);
    return {pointwise("time_mix", "3*words", width, "add", "3*" + width),
            gemm("key_value_receptance", "3*" + wide, width),
            pointwise("decayed_sum", "words", wide, "exp", "2*" + wide),
            pointwise("state_gate", "words", wide, "swiglu"), gemm("output", width, wide)};
}

Block rwkv_feed_forward(Count hidden, Count inner) {
    const std::string width = text_of(hidden);
    const std::string wide = text_of(inner);
    return {pointwise("channel_mix", "2*words", width, "add", "2*" + width),
            gemm("up", wide, width),
            pointwise("activation", "words", wide, "square"),
            gemm("down", width, wide),
            gemm("receptance", width, width),
            pointwise("channel_gate", "words", width, "swiglu")};
}

Block short_convolution(Count hidden, Count taps, bool bias, const std::string& types) {
    const std::string width = text_of(hidden);
    return {typed(gemm("in", "3*" + width, width, bias), types),
            pointwise("gate_in", "words", width, "mul"), depthwise(width, taps, bias),
            pointwise("gate_out", "words", width, "mul"),
            typed(gemm("out", width, width, bias), types)};
}

Block lightning_attention(Count hidden, Count heads, Count size, const std::string& types) {
    const std::string width = text_of(hidden);
    const std::string inner = fmt::format("({}*{})", heads, size);
    const std::string part = "min(256, new)"; // tokens of a block
    const std::string chunks = fmt::format("batch*ceil(new/{})*{}", part, heads);
    const std::string one = text_of(size);
    return {typed(gemm("query_key_value", "3*" + inner, width), types),
            pointwise("activation", "words", "3*" + inner, "silu"),
            bmm("own_scores", chunks, part, part, one),
            pointwise("own_mask", fmt::format("{}*{}", chunks, part), part, "mul"),
            bmm("own_mix", chunks, part, one, part),
            bmm("state_read", chunks, part, one, one),
            bmm("state_write", chunks, one, one, part),
            norm("state_norm", "words", inner, inner),
            typed(gemm("attention_gate", inner, width), types),
            pointwise("gate", "words", inner, "swiglu"),
            typed(gemm("output", width, inner), types)};
}

Block feed_forward(const FeedForward& f) {
    const std::string hidden = text_of(f.hidden);
    const std::string inner = text_of(f.inner);
    return {
        typed(gemm(f.gated ? "gate_up" : "up", (f.gated ? "2*" : "") + inner, hidden, f.bias),
              f.types),
        pointwise(f.gated ? "swiglu" : "activation", "words", inner, f.gated ? "swiglu" : "gelu"),
        typed(gemm("down", hidden, inner, f.bias), f.down_types.value_or(f.types))};
}

Block experts(const Experts& e) {
    const std::string hidden = text_of(e.hidden);
    const std::string width = text_of(e.width > 0 ? e.width : e.hidden);
    const std::string inner = fmt::format("{}{}", e.gated ? "2*" : "", e.inner);
    const std::string run = reached(e);
    const std::string share = fmt::format("ceil(words*{}/{})", e.active, run);
    const std::string sent = fmt::format("words*{}", e.active);
    const std::string all = text_of(e.experts);
    Block block = {
        gemm("router", all, hidden, e.router_bias),
        {"router_softmax",
         fmt::format("op: softmax, rows: =words, cols: {}{}", e.experts,
                     e.router_extra > 0 ? fmt::format(", parameters: {}", e.router_extra) : ""),
         {}}};
    if (e.width > 0) {
        block.push_back(gemm("experts_in", width, hidden));
    }
    const auto parameters = [&](const std::string& n, const std::string& k) {
        return fmt::format("{}*({}*{}{})", all, n, k, e.biases ? "+" + n : "");
    };
    append(block, {pointwise("dispatch", sent, width, "copy"),
                   typed(bmm(e.gated ? "experts_gate_up" : "experts_up", run, share, inner, width,
                             parameters(inner, width)),
                         e.types),
                   pointwise(e.gated ? "experts_swiglu" : "experts_activation", sent,
                             text_of(e.inner), e.gated ? "swiglu" : "gelu"),
                   typed(bmm("experts_down", run, share, width, text_of(e.inner),
                             parameters(width, text_of(e.inner))),
                         e.down_types.value_or(e.types)),
                   pointwise("combine", sent, width, "mulu")});
    if (e.width > 0) {
        block.push_back(gemm("experts_out", hidden, width));
    }
    if (e.shared_inner > 0) {
        for (Operator& op : Block(feed_forward({e.hidden, e.shared_inner, e.gated, false,
                                                e.shared_types, e.shared_down_types}))) {
            op.name = "shared_" + op.name;
            block.push_back(op);
        }
        if (e.shared_gate) {
            block.push_back(gemm("shared_gate", "1", hidden));
        }
        block.push_back(pointwise("shared_add", "words", hidden, "add"));
    }
    return block;
}

} // namespace eyeroof::formats::hf
