#include "analysis/scale/transformer.hpp"

#include "analysis/scale/split.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <vector>

namespace eyeroof::analysis {

using model::DataType;
using model::Layer;
using model::Op;

Transformer gpt(Count layers, Count hidden, Count heads, Count vocabulary, Count positions,
                bool tied) {
    Transformer t;
    t.layers = layers;
    t.hidden = hidden;
    t.heads = t.kv_heads = heads;
    t.head_size = hidden / heads;
    t.inner = 4 * hidden;
    t.vocabulary = vocabulary;
    t.positions = positions;
    t.tied = tied;
    return t;
}

namespace {

struct Widths { // as numbers
    explicit Widths(const Transformer& t)
        : h(static_cast<double>(t.hidden)), q(static_cast<double>(t.heads * t.head_size)),
          kv(static_cast<double>(t.kv_heads * t.head_size)), f(static_cast<double>(t.inner)),
          a(static_cast<double>(t.heads)), v(static_cast<double>(t.vocabulary)),
          layers(static_cast<double>(t.layers)), products(t.gated ? 3.0 : 2.0) {}
    double h, q, kv, f, a, v, layers, products;
};

} // namespace

double attention_parameters(const Transformer& t) {
    const Widths w(t);
    if (t.latent.rank > 0) { // with the norms of both latents
        const auto query = static_cast<double>(t.latent.query_rank);
        const auto rank = static_cast<double>(t.latent.rank);
        const auto rotary = static_cast<double>(t.latent.rotary);
        const auto value = static_cast<double>(t.latent.value);
        const double plain = static_cast<double>(t.head_size) - rotary;
        return w.h * (query + rank + rotary) + query * w.q + rank * w.a * (plain + value) +
               w.a * value * w.h + query + rank;
    }
    const double bias = t.biases ? w.q + 2.0 * w.kv + w.h : 0.0;
    const double gate = t.gated_attention ? w.h * w.q : 0.0;
    return w.h * (w.q + 2.0 * w.kv) + w.q * w.h + bias + gate;
}

namespace {

// Of a layer with a state: what is mixed, the gate, and the output; two rates a head of values, the
// decay's own two values, the convolution, and the norm.
double state_parameters(const Transformer& t) {
    const auto h = static_cast<double>(t.hidden);
    const auto mixed = static_cast<double>(t.states.mixed());
    const auto values = static_cast<double>(t.states.values);
    const auto size = static_cast<double>(t.states.size);
    return h * (mixed + 2.0 * values * size + 2.0 * values) + 2.0 * values +
           mixed * static_cast<double>(t.states.taps) + size;
}

double feed_forward_parameters(const Transformer& t, double inner) {
    const Widths w(t);
    const double bias = t.biases ? (w.products - 1.0) * inner + w.h : 0.0;
    return w.products * w.h * inner + bias;
}

double norm_parameters(const Transformer& t) {
    return static_cast<double>(t.hidden) * (t.biases ? 4.0 : 2.0);
}

double blocks(const Transformer& t, double experts) {
    const double router = t.experts > 1 ? static_cast<double>(t.hidden * t.experts) : 0.0;
    const auto dense = static_cast<double>(t.dense_layers);
    const double used = experts + static_cast<double>(t.shared);
    return static_cast<double>(t.layers) * norm_parameters(t) +
           static_cast<double>(t.attention_layers()) * attention_parameters(t) +
           static_cast<double>(t.states.layers) * state_parameters(t) +
           (static_cast<double>(t.layers) - dense) *
               (router + used * feed_forward_parameters(t, static_cast<double>(t.inner))) +
           dense * feed_forward_parameters(t, static_cast<double>(t.dense_inner));
}

double outside(const Transformer& t) {
    const Widths w(t);
    return (t.tied ? 1.0 : 2.0) * w.v * w.h + static_cast<double>(t.positions) * w.h;
}

} // namespace

double block_parameters(const Transformer& t) {
    return blocks(t, static_cast<double>(t.experts)) / static_cast<double>(t.layers);
}

double parameters(const Transformer& t) {
    return blocks(t, static_cast<double>(t.experts)) + outside(t);
}

double active_parameters(const Transformer& t) {
    return blocks(t, static_cast<double>(t.active)) + outside(t);
}

namespace {

// Multiply-accumulates of a token with all that its layers mix it with, in a sequence of `length`:
// every key that a layer sees, or a state that is read, corrected, and read again.
double mixing_macs(const Transformer& t, double length) {
    const double keys =
        static_cast<double>(t.full_layers()) * length +
        static_cast<double>(t.window.layers) * std::min(length, static_cast<double>(t.window.keys));
    const double states = 3.0 *
                          static_cast<double>(t.states.layers * t.states.values * t.states.size) *
                          static_cast<double>(t.states.size);
    return keys * static_cast<double>(t.heads * (t.head_size + t.value_size())) + states;
}

// Of the blocks' products, a token.
double product_macs(const Transformer& t) {
    Transformer bare = t; // weights alone: a token passes each once
    bare.biases = false;
    const double norms = 2.0 * static_cast<double>(t.hidden) +
                         static_cast<double>(t.latent.query_rank + t.latent.rank);
    const double router =
        t.experts > 1 ? static_cast<double>((t.layers - t.dense_layers) * t.hidden * t.experts)
                      : 0.0;
    return blocks(bare, static_cast<double>(t.active)) - static_cast<double>(t.layers) * norms -
           router;
}

} // namespace

double training_flops(const Transformer& t, double sequences, double length, bool frozen) {
    const Widths w(t);
    const double words = sequences * length;
    return words *
           ((frozen ? 4.0 : 6.0) * (product_macs(t) + w.v * w.h) + 6.0 * mixing_macs(t, length));
}

namespace {

// BlockOperators of one device's part, in order.
class BlockOperators {
  public:
    BlockOperators(const char* id, DataType type) : type_(type), wide_(wide_type(type)) {
        network_.id = network_.name = id;
    }

    void type(DataType type) { type_ = wide_ = type; }
    void add(const char* name, Op op, model::Shape shape) {
        Layer layer;
        layer.name = name;
        layer.op = op;
        layer.shape = std::move(shape);
        const bool product = op == Op::gemm || op == Op::bmm;
        layer.types = product ? model::TensorTypes{type_, type_, wide_}
                              : model::TensorTypes{wide_, wide_, wide_};
        network_.layers.push_back(std::move(layer));
    }
    void retype(DataType type) { network_.layers.back().types = {type, type, type}; }
    void rows(const char* name, Op op, Count r, Count c) { add(name, op, model::RowsShape{r, c}); }
    void pointwise(const char* name, Count r, Count c, const char* fn) {
        add(name, Op::elementwise, model::ElementwiseShape{r, c, fn});
    }
    void product(const char* name, Count m, Count n, Count k) {
        add(name, Op::gemm, model::GemmShape{1, m, n, k});
    }
    // A product with an adapter of this rank beside it.
    void adapted(const char* name, Count m, Count n, Count k, Count rank) {
        product(name, m, n, k);
        if (rank > 0) {
            product(kAdapterIn.data(), m, rank, k);
            retype(wide_);
            product(kAdapterOut.data(), m, n, rank);
            retype(wide_);
            pointwise("adapter_sum", m, n, "add");
        }
    }
    model::Network take() { return std::move(network_); }

  private:
    DataType type_, wide_;
    model::Network network_;
};

// The delta rule over chunks of tokens: products within a chunk and with its state. Source: Yang et
// al., arXiv:2412.06464, section 3.3.
constexpr Count kStateChunk = 64;

void add_state(BlockOperators& ops, const Transformer& t, const BlockCut& cut) {
    const Count values = part(t.states.values, cut.tensor);
    const Count size = t.states.size;
    const Count rows = part(cut.length, cut.context);
    const Count chunk = std::min(kStateChunk, rows);
    const Count chunks = cut.microbatch * part(rows, chunk) * values;
    ops.add("key_products", Op::bmm, model::GemmShape{chunks, chunk, chunk, size});
    ops.pointwise("decay", chunks * chunk, chunk, "exp");
    ops.add("rows_solved", Op::bmm, model::GemmShape{chunks, chunk, 2 * size, chunk});
    ops.add("own_scores", Op::bmm, model::GemmShape{chunks, chunk, chunk, size});
    ops.add("own_mix", Op::bmm, model::GemmShape{chunks, chunk, size, chunk});
    ops.add("state_read", Op::bmm, model::GemmShape{chunks, 2 * chunk, size, size});
    ops.add("state_write", Op::bmm, model::GemmShape{chunks, size, size, chunk});
    ops.pointwise("hand_on", chunks, size * size, "add");
}

void add_core(BlockOperators& ops, const Transformer& t, const BlockCut& cut) {
    if (cut.mixer == Mixer::state) {
        add_state(ops, t, cut);
        return;
    }
    const Count b = cut.microbatch;
    const Count heads = part(t.heads, cut.tensor);
    const Count kv = part(t.kv_heads, cut.tensor);
    const Count rows = part(cut.length, cut.context);
    if (cut.fused) { // one size for keys and values: their mean
        // A context group's devices have the i-th chunk from either end: all see as many pairs as
        // the last rows of half the sequence and half a chunk do.
        const Count seen = (cut.length + rows) / 2;
        const Count size = (t.head_size + t.value_size()) / 2;
        const Count window = cut.mixer == Mixer::window ? t.window.keys : 0;
        ops.add("attention", Op::attention,
                model::AttentionShape{b, heads, rows, seen, size, kv, true, window});
        ops.retype(cut.attention_type.value_or(wide_type(cut.type)));
        return;
    }
    const Count shared = heads / std::max<Count>(kv, 1);
    const Count seen =
        cut.mixer == Mixer::window ? std::min(cut.length, t.window.keys + rows - 1) : cut.length;
    const DataType core = cut.attention_type.value_or(wide_type(cut.type));
    ops.add("scores", Op::bmm, model::GemmShape{b * kv, rows * shared, seen, t.head_size});
    ops.retype(core);
    ops.rows("softmax", Op::softmax, b * heads * rows, seen); // scale and mask in it
    ops.pointwise("attention_dropout", b * heads * rows, seen, "dropout");
    ops.add("mix", Op::bmm, model::GemmShape{b * kv, rows * shared, t.value_size(), seen});
    ops.retype(core);
}

void add_plain(BlockOperators& ops, const Transformer& t, Count inner, Count words, Count rank) {
    ops.adapted("up", words, t.gated ? 2 * inner : inner, t.hidden, rank);
    ops.pointwise("activation", words, inner, t.gated ? "swiglu" : "gelu");
    ops.adapted("down", words, t.hidden, inner, rank);
}

void add_feed_forward(BlockOperators& ops, const Transformer& t, const BlockCut& cut, Count words) {
    const Count rank = cut.adapters.feed_forward ? cut.adapters.rank : 0;
    if (t.experts <= 1) {
        add_plain(ops, t, part(t.inner, cut.tensor), words, rank);
        return;
    }
    const Count divided = cut.expert_tensor > 0 ? cut.expert_tensor : cut.tensor;
    const Count inner = part(t.inner, divided);
    const Count up = t.gated ? 2 * inner : inner;
    const Count experts = part(t.experts, cut.expert);
    const Count routed = part(words * t.active * divided, cut.tensor);
    const Count each = part(routed, experts);
    ops.product("router", words, t.experts, t.hidden);
    ops.rows("router_softmax", Op::softmax, words, t.experts);
    ops.pointwise("dispatch", routed, t.hidden, "copy");
    ops.add("experts_up", Op::bmm, model::GemmShape{experts, each, up, t.hidden});
    ops.pointwise("experts_activation", routed, inner, t.gated ? "swiglu" : "gelu");
    ops.add("experts_down", Op::bmm, model::GemmShape{experts, each, t.hidden, inner});
    ops.pointwise("combine", routed, t.hidden, "mulu");
    if (t.shared > 0) {
        add_plain(ops, t, part(t.shared * t.inner, cut.tensor), words, rank);
    }
}

void add_queries(BlockOperators& ops, const Transformer& t, const BlockCut& cut, Count words) {
    const Count heads = part(t.heads, cut.tensor);
    const Count kv = part(t.kv_heads, cut.tensor);
    const Latent& l = t.latent;
    const Count rank = cut.adapters.rank;
    if (cut.mixer == Mixer::state) {
        const Count mixed = part(t.states.mixed(), cut.tensor);
        const Count values = part(t.states.values, cut.tensor);
        ops.adapted("state_in", words, mixed + values * t.states.size + 2 * values, t.hidden, rank);
        ops.pointwise("convolution", words, mixed, "silu"); // taps are few: one pass over its rows
        return;
    }
    if (l.rank == 0) {
        const Count queries = t.gated_attention ? 2 * heads : heads;
        ops.adapted("qkv", words, (queries + 2 * kv) * t.head_size, t.hidden, rank);
        if (t.positions == 0) {
            ops.rows("rotary", Op::rope, words * (heads + kv), t.head_size);
        }
        return;
    }
    ops.adapted("latents", words, l.query_rank + l.rank + l.rotary, t.hidden, rank);
    ops.rows("latent_norm", Op::layernorm, words, l.query_rank + l.rank);
    ops.adapted("query_up", words, heads * t.head_size, l.query_rank, rank);
    ops.adapted("keys_values", words, heads * (t.head_size - l.rotary + l.value), l.rank, rank);
    ops.rows("rotary", Op::rope, words * (heads + 1), l.rotary);
}

} // namespace

DataType wide_type(DataType type) {
    return model::storage_bits(type) >= 16 ? type : DataType::bf16;
}

StageBlocks stage_blocks(const Transformer& t, Count stages, bool balanced) {
    const Count p = std::max<Count>(std::min(stages, t.layers), 1);
    const Count most = part(t.layers, p);
    if (!balanced || p == 1) {
        return {most, t.layers / p};
    }
    Transformer one = t;
    one.layers = 1;
    one.dense_layers = 0;
    const double head = static_cast<double>(t.vocabulary * t.hidden) / product_macs(one);
    StageBlocks best{t.layers, 0};
    double least = INFINITY;
    for (Count last = 0; last <= most; ++last) {
        const Count others = part(t.layers - last, p - 1);
        const double slowest =
            std::max(static_cast<double>(others), static_cast<double>(last) + head);
        if (slowest <= least) {
            least = slowest;
            best = {others, last};
        }
    }
    return best;
}

std::vector<MixerShare> mixers_of(const Transformer& t) {
    std::vector<MixerShare> shares = {{Mixer::full, t.full_layers()},
                                      {Mixer::window, t.window.layers},
                                      {Mixer::state, t.states.layers}};
    std::erase_if(shares, [](const MixerShare& share) { return share.layers <= 0; });
    return shares;
}

std::vector<Count> tensor_degrees(const Transformer& t) {
    std::vector<Count> degrees;
    for (Count d = 1; d <= t.heads; ++d) {
        const bool states = t.states.layers == 0 || t.states.keys % d == 0;
        if (states && t.heads % d == 0 && (t.kv_heads % d == 0 || d % t.kv_heads == 0)) {
            degrees.push_back(d);
        }
    }
    return degrees;
}

Count nearest_tensor_degree(const Transformer& t, Count wanted) {
    const std::vector<Count> degrees = tensor_degrees(t);
    return *std::ranges::min_element(degrees, {},
                                     [&](Count degree) { return std::abs(degree - wanted); });
}

model::Network core_network(const Transformer& t, const BlockCut& cut) {
    BlockOperators ops("core", cut.type);
    add_core(ops, t, cut);
    return ops.take();
}

model::Network block_network(const Transformer& t, const BlockCut& cut) {
    const Count words = cut.microbatch * part(cut.length, cut.context);
    const Count local = cut.sequence ? part(words, cut.tensor) : words;
    const Count heads = part(t.heads, cut.tensor);
    BlockOperators ops("block", cut.type);
    ops.rows("attention_norm", Op::layernorm, local, t.hidden);
    add_queries(ops, t, cut, words);
    add_core(ops, t, cut);
    const bool state = cut.mixer == Mixer::state;
    const Count mixed =
        state ? part(t.states.values, cut.tensor) * t.states.size : heads * t.value_size();
    if (state || t.gated_attention) {
        ops.pointwise("gate", words, mixed, "swiglu");
    }
    ops.adapted("output", words, t.hidden, mixed, cut.adapters.rank);
    if (!cut.fused) {
        ops.pointwise("dropout", local, t.hidden, "dropout");
    }
    ops.pointwise("residual", local, t.hidden, "add");
    ops.rows("ffn_norm", Op::layernorm, local, t.hidden);
    add_feed_forward(ops, t, cut, words);
    if (!cut.fused) {
        ops.pointwise("ffn_dropout", local, t.hidden, "dropout");
    }
    ops.pointwise("ffn_residual", local, t.hidden, "add");
    return ops.take();
}

model::Network ends_network(const Transformer& t, const BlockCut& cut) {
    const Count words = cut.microbatch * part(cut.length, cut.context);
    BlockOperators ops("ends", wide_type(cut.type)); // the head stays in 16 bits
    const Count vocabulary = part(t.vocabulary, cut.tensor);
    ops.add("embedding", Op::embedding, model::RowsShape{words, t.hidden, vocabulary});
    ops.rows("norm", Op::layernorm, cut.sequence ? part(words, cut.tensor) : words, t.hidden);
    ops.product("head", words, vocabulary, t.hidden);
    ops.type(DataType::fp32); // the loss: logits widened, exponentials, their sums, and back
    ops.pointwise("widened", words, vocabulary, "cast");
    ops.pointwise("exponentials", words, vocabulary, "exp");
    ops.rows("loss", Op::softmax, words, vocabulary);
    return ops.take();
}

double activation_bytes(const Transformer& t, const BlockCut& cut, Recompute recompute) {
    const Widths w(t);
    const double words = static_cast<double>(cut.microbatch) * static_cast<double>(cut.length) /
                         static_cast<double>(cut.context);
    const double tensor = static_cast<double>(cut.tensor);
    if (recompute == Recompute::full) {
        return 2.0 * words * w.h / (cut.sequence ? tensor : 1.0);
    }
    const auto latents = static_cast<double>(t.latent.query_rank + t.latent.rank + t.latent.rotary);
    // Masks of the dropouts behind attention and feed-forward: those of fused attention's time have
    // none, and neither has block_network().
    const double masks = cut.fused ? 0.0 : 2.0 * w.h;
    const double whole = 8.0 * w.h + masks + 2.0 * latents;
    const auto dense = static_cast<double>(t.dense_layers) / w.layers;
    const double inner = (1.0 - dense) * w.f * static_cast<double>(t.active + t.shared) +
                         dense * static_cast<double>(t.dense_inner);
    const double feed = (t.gated ? 6.0 : 4.0) * inner;
    const double values = w.a * static_cast<double>(t.value_size());
    const double keys = t.latent.rank > 0 ? w.q + values : 2.0 * w.kv;
    // A layer with a state keeps what it mixes, its gate, and its output.
    const double states = static_cast<double>(t.states.layers) / w.layers;
    const double mixed = 2.0 * static_cast<double>(t.states.mixed()) +
                         4.0 * static_cast<double>(t.states.values * t.states.size);
    const double queries = t.gated_attention ? 2.0 * w.q : w.q;
    double divided =
        (1.0 - states) * (2.0 * (queries + keys) + 2.0 * values) + states * mixed + feed;
    double norms = 0.0;
    if (model::storage_bits(cut.type) <= 8) { // inputs of products are kept in 8 bits
        norms = 2.0 * w.h;
        divided -= values + inner;
    }
    const double core = cut.fused || recompute == Recompute::selective
                            ? 0.0
                            : 5.0 * w.a * static_cast<double>(cut.length);
    return words * ((whole - norms) / (cut.sequence ? tensor : 1.0) + (divided + core) / tensor);
}

} // namespace eyeroof::analysis
