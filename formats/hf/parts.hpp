// Parts of a decoder's layer, as operators of `words` new tokens over `seen` keys: attention with
// shared key-value heads, latent attention, layers that keep a state, and feed-forward layers.
#pragma once

#include "formats/hf/blocks.hpp"

#include <optional>
#include <string>

namespace eyeroof::formats::hf {

enum class QkNorm { none, head, head_with_shift, plain_head, all, each_head };

// softmax(Q K) V with `heads` query heads on `kv` key-value heads.
struct Attention {
    Count hidden = 0, heads = 0, kv = 0, size = 0;
    Count value_size = 0; // 0: size
    Count window = 0;     // keys that a token sees; 0: all
    bool in_bias = false, out_bias = false;
    bool sinks = false;       // one learned logit for each head
    bool shared_keys = false; // keys and values are those of an earlier layer
    bool value_is_key = false;
    Count gate = 0; // outputs of a gate on what attention gives
    bool gate_in_query = false;
    QkNorm norm = QkNorm::none;
    bool rotary = true;
    Count index_heads = 0, index_size = 0, index_top = 0; // of keys that are chosen; 0: all
    std::string types;
    std::optional<std::string> out_types = {}; // of the output; types where none
};
Block attention(const Attention& a);

// Keys and values from a latent, as DeepSeek-V2 and later; `query_rank` 0: queries without one.
struct LatentAttention {
    Count hidden = 0, heads = 0, query_rank = 0, latent = 0, plain = 0, rotary = 0, value = 0;
    bool bias = false;
    Count index_heads = 0, index_size = 0, index_top = 0; // of sparse attention; 0: dense
    std::string types;
    std::optional<std::string> out_types = {};
};
Block latent_attention(const LatentAttention& a);

// DeepSeek-V4: one key of every head, which is its value too, over a window and over keys of
// several tokens made into one; queries and outputs by latents.
struct CompressedAttention {
    Count hidden = 0, heads = 0, size = 0, query_rank = 0, rotary = 64;
    Count output_groups = 1, output_rank = 0;
    Count window = 128;
    Count rate = 0; // tokens of a compressed key; 0: the window alone
    Count index_heads = 0, index_size = 0, index_top = 0; // where those are chosen; 0: all are read
    std::string types;
};
Block compressed_attention(const CompressedAttention& a);

// A state-space layer: Mamba-2, or with `rank` the first Mamba.
struct StateSpace {
    Count hidden = 0, inner = 0, state = 0, groups = 1, heads = 0, taps = 4, rank = 0, chunk = 256;
    bool conv_bias = true, bias = false;
    bool inner_norms = false; // of Jamba: steps, B, and C
    bool gate_norm = true;
    std::string types;
};
Block state_space(const StateSpace& s);

// Linear attention by the gated delta rule, as Qwen3-Next.
struct DeltaRule {
    Count hidden = 0, keys = 0, values = 0, key_size = 0, value_size = 0, taps = 4;
    std::string types;
};
Block delta_rule(const DeltaRule& d);

// Kimi Linear: the delta rule with a decay for each feature; gates from small latents.
Block kimi_delta(Count hidden, Count heads, Count size, Count taps, const std::string& types);

// RWKV-4: a decaying sum over tokens in place of attention, and its feed-forward part.
Block rwkv_mixer(Count hidden, Count inner);
Block rwkv_feed_forward(Count hidden, Count inner);

// A gate, a short convolution, and a gate, as LFM2.
Block short_convolution(Count hidden, Count taps, bool bias, const std::string& types);

// Linear attention with a decay, as MiniMax-Text.
Block lightning_attention(Count hidden, Count heads, Count size, const std::string& types);

struct FeedForward {
    Count hidden = 0, inner = 0;
    bool gated = true, bias = false;
    std::string types;
    std::optional<std::string> down_types = {}; // of the second product; types where none
};
Block feed_forward(const FeedForward& f);

struct Experts {
    Count hidden = 0, inner = 0, experts = 0, active = 1;
    Count width = 0; // that experts read and write; 0: hidden
    Count shared_inner = 0;
    bool gated = true, biases = false, router_bias = false, shared_gate = false;
    Count router_extra = 0; // learned values beside its matrix
    std::string types, shared_types;
    std::optional<std::string> down_types = {}, shared_down_types = {};
};
Block experts(const Experts& e);

} // namespace eyeroof::formats::hf
