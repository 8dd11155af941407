// A decoder as parallel training divides it: its sizes, parameters, FLOPs, and a block's operators.
#pragma once

#include "base/result.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

// Latent attention (MLA): queries through `query_rank` values, keys and values through a latent of
// `rank` and one rotary key of `rotary` values that all heads share; a head's value has `value`.
// rank 0: none. Source: DeepSeek-AI, arXiv:2405.04434, section 2.1.
struct Latent {
    Count query_rank = 0, rank = 0, rotary = 0, value = 0;
    bool operator==(const Latent&) const = default;
};

// Layers whose queries see `keys` tokens at most, themselves included, by a window that slides or
// by chunks that start over: their cache holds no more.
struct Window {
    Count layers = 0, keys = 0;
    bool operator==(const Window&) const = default;
};

// Layers that keep a state in place of keys and values, by the gated delta rule: heads of `size`,
// so many of keys and of values, behind a convolution over `taps` tokens. A head of values has a
// state of size x size. Source: Yang et al., arXiv:2412.06464, section 3.3.
struct StateLayers {
    Count layers = 0, keys = 0, values = 0, size = 0, taps = 0;

    Count mixed() const { return (2 * keys + values) * size; } // channels of the convolution
    bool operator==(const StateLayers&) const = default;
};

struct Transformer {
    std::string name;
    Count layers = 1, hidden = 1, heads = 1, kv_heads = 1, head_size = 1, inner = 1;
    Count vocabulary = 1;
    Count positions = 0; // learned; 0: rotary or none
    Count experts = 1, active = 1;
    bool gated = false; // three products in the feed-forward layer instead of two
    bool tied = true;   // the head is the embedding
    bool biases = true; // of products and norms
    Latent latent = {};
    Count shared = 0; // experts that every token passes, beside `active`
    // First layers without experts, of another width.
    Count dense_layers = 0, dense_inner = 0;
    Window window = {};
    StateLayers states = {};
    bool gated_attention = false; // its output is gated: queries are made twice as wide

    // Of `layers`, those that attend to keys, and those of them that see all.
    Count attention_layers() const { return layers - states.layers; }
    Count full_layers() const { return attention_layers() - window.layers; }
    Count value_size() const { return latent.rank > 0 ? latent.value : head_size; }
    bool operator==(const Transformer&) const = default;
};

// GPT: heads of hidden / heads, inner 4 hidden, biases.
Transformer gpt(Count layers, Count hidden, Count heads, Count vocabulary, Count positions,
                bool tied);

// Learned values of a block, and of all: with GPT's shape
// 12 L h^2 (1 + 13/(12 h)) + (V + positions) h, + V h untied.
double block_parameters(const Transformer& t);
double attention_parameters(const Transformer& t); // of a layer that attends
double parameters(const Transformer& t);
// Of them, those that one token passes (experts).
double active_parameters(const Transformer& t);

// FLOP of one training step of `sequences` of `length` words, forward and backward, attention over
// the full square, or over the window times the length; with GPT's shape 72 B s L h^2 (1 + s/(6h) +
// V/(12 L h)).
// `frozen`: weights have no gradients.
double training_flops(const Transformer& t, double sequences, double length, bool frozen = false);
// What is computed again in the backward pass: nothing, the attention's core, or whole blocks.
enum class Recompute { none, selective, full };

// The sizes of a decoder from its operators' shapes, whatever they are called: the embedding gives
// words, width and vocabulary; the attention's products, or its one kernel, heads; the products
// that read and write the width the rest. Errors: "no-transformer", saying what is missing or not
// modeled: encoders, layers of several kinds other than those with and without experts. The
// parameters of what is read are those of the network within 1 %.
Result<Transformer> transformer_of(const model::Network& network);
// Tokens of a sequence that the decoder's own sizes are for: all keys that its attention sees; 0:
// it has none.
Count length_of(const model::Network& decoder);

// Degrees of tensor parallelism: divisors of the heads over which the keys' heads divide evenly, or
// are repeated evenly, in order.
std::vector<Count> tensor_degrees(const Transformer& t);
// Of these the one next to `wanted`, the smaller of two.
Count nearest_tensor_degree(const Transformer& t, Count wanted);

// 16 bits or more: what is computed beside products of fewer bits.
model::DataType wide_type(model::DataType type);

// Blocks of the stages of a pipeline: of the fullest, and of the last, which has the head too.
// Even: blocks that do not divide leave the last stage one short, then the first (Llama 3 herd of
// models, arXiv:2407.21783, section 3.3.2). Balanced: the head counts as as many blocks as its
// products take, and the slowest stage is as quick as possible.
struct StageBlocks {
    Count most = 1, last = 1;
    bool operator==(const StageBlocks&) const = default;
};
StageBlocks stage_blocks(const Transformer& t, Count stages, bool balanced);

// What mixes the tokens of a block: attention to all, attention to a window, or a state.
enum class Mixer { full, window, state };

// A kind of block, and how many of the decoder's blocks are of it.
struct MixerShare {
    Mixer mixer = Mixer::full;
    Count layers = 0;
    bool operator==(const MixerShare&) const = default;
};
std::vector<MixerShare> mixers_of(const Transformer& t); // those that the decoder has

// Low-rank adapters: Y = X W + (X A) B with A of `rank` columns, which are trained in 16 bits in
// place of the frozen W. Of attention's linear layers, and of dense and shared feed-forward layers,
// not of the experts that tokens are sent to. Source: Hu et al., arXiv:2106.09685, section 4.1.
struct Adapters {
    Count rank = 0; // 0: none, all weights are trained
    bool feed_forward = true;
    bool operator==(const Adapters&) const = default;
};
inline constexpr std::string_view kAdapterIn = "adapter_in", kAdapterOut = "adapter_out";

// How one device's part of a block is cut.
struct BlockCut {
    Count tensor = 1, context = 1, expert = 1;
    bool sequence = false; // norms and residuals divided by `tensor` too
    bool fused = true;     // attention as one kernel
    Count microbatch = 1, length = 2048;
    model::DataType type = model::DataType::bf16;
    std::optional<model::DataType> attention_type = {}; // of the attention kernel; nullopt: `type`
    Mixer mixer = Mixer::full;
    Count expert_tensor = 0; // devices that divide each expert; 0: `tensor`
    Adapters adapters = {};

    bool operator==(const BlockCut&) const = default;
};

// Forward operators of one block on one device, and those outside the blocks (embedding, last norm,
// head, loss).
model::Network block_network(const Transformer& t, const BlockCut& cut);
model::Network ends_network(const Transformer& t, const BlockCut& cut);
// The attention's core alone: what selective recomputation computes again.
model::Network core_network(const Transformer& t, const BlockCut& cut);

// Bytes that a block keeps of one microbatch for its backward pass, 2-byte elements:
//   tensor             s b h (10 + 24/t + 5 a s/(h t))
//   + sequence         s b h/t (34 + 5 a s/h)
//   selective          without 5 a s/h
//   fused              the same, and without the masks of two dropouts: 8 for 10, 32 for 34
//   full               2 s b h
// Source: Korthikanti et al., arXiv 2205.05198, table 2. Other widths of the feed-forward layer
// than 4 h and shared keys change the 24: 8 f/h + ... as the same table's terms do. Of several
// kinds of blocks the mean.
double activation_bytes(const Transformer& t, const BlockCut& cut, Recompute recompute);

} // namespace eyeroof::analysis
