#include "formats/hf/decoder.hpp"

#include "formats/hf/encoder_parts.hpp"
#include "formats/hf/families.hpp"
#include "formats/hf/layer_kinds.hpp"
#include "formats/hf/parts.hpp"
#include "formats/hf/quantization.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace eyeroof::formats::hf {

namespace {

constexpr Count kMostLayers = 10'000;

Count key_value_heads(Config& c, std::string_view type, Count heads) {
    if (type == "gpt_bigcode") {
        return c.flag("multi_query", true) ? 1 : heads;
    }
    if (type == "mpt") {
        return c.inner("attn_config").count_or({"kv_n_heads"}, heads);
    }
    if (type == "falcon") {
        const Count shared = c.count_or({"num_kv_heads", "n_head_kv"}, heads);
        return c.flag("new_decoder_architecture") || !c.flag("multi_query", true) ? shared : 1;
    }
    const Count shared = c.count_or({"num_key_value_heads", "num_attention_groups"}, heads);
    return c.has("kv_lora_rank") && type != "deepseek_v4" ? heads : shared; // latent: unused
}

// What a configuration says of a decoder's layers.
class Sizes {
  public:
    Sizes(Config& text, Config& outer, const Family& family)
        : c_(text), outer_(outer), family_(family), type_(family.type) {}

  protected:
    bool is(std::string_view type) const { return type_ == type; }
    bool one_of(std::initializer_list<std::string_view> types) const {
        return std::ranges::find(types, type_) != types.end();
    }

    void read_sizes() {
        hidden_ = c_.need({"hidden_size", "n_embd", "d_model"});
        c_.read("attention_layers"); // of GPT-Neo, a copy of attention_types
        kinds_ = layer_kinds(c_, type_);
        if (is("qwen3_5_text")) { // of the family's sparse members, empty here
            c_.read("mlp_only_layers");
        }
        const bool by_pattern = is("nemotron_h") && !kinds_.empty();
        layers_ = by_pattern && !c_.has("num_hidden_layers")
                      ? static_cast<Count>(kinds_.size())
                      : c_.need({"num_hidden_layers", "n_layer", "num_layers", "n_layers"});
        vocabulary_ = c_.need({"vocab_size"});
        if (layers_ > kMostLayers) {
            c_.refuse("num_hidden_layers", fmt::format("{} layers", layers_),
                      fmt::format("at most {} are read", kMostLayers));
            layers_ = 1;
        }
        if (!kinds_.empty() && static_cast<Count>(kinds_.size()) < layers_) {
            c_.refuse(c_.has("layer_types") ? "layer_types" : "num_hidden_layers",
                      fmt::format("{} layers have {} types", layers_, kinds_.size()),
                      "write a type for every layer");
            layers_ = 1;
        }
        constexpr auto feeds =
            std::to_array<std::string_view>({"dense", "mlp", "sparse", "moe", "hash_moe"});
        feed_kinds_ = c_.words("mlp_layer_types", feeds);
        inners_ = c_.counts("intermediate_size");
        if (!one_of({"mamba", "mamba2", "rwkv"})) {
            read_attention();
        }
        if (!has_experts() && !one_of({"mamba", "mamba2"}) && inners_.empty()) {
            (void)inner_of(0); // so that a missing size is an error of its own
        }
        read_experts();
    }

    void read_attention() {
        const Count heads = c_.need({"num_attention_heads", "n_head", "num_heads", "n_heads"});
        attention_.hidden = hidden_;
        attention_.heads = std::max<Count>(heads, 1);
        attention_.kv = std::max<Count>(key_value_heads(c_, type_, heads), 1);
        if (attention_.heads % attention_.kv != 0) {
            c_.refuse("num_key_value_heads",
                      fmt::format("{} does not divide {} heads", attention_.kv, heads),
                      "key-value heads divide the heads");
            attention_.kv = attention_.heads;
        }
        const bool sized = c_.has("head_dim") && c_.count({"head_dim"}).value_or(0) > 0;
        attention_.size = std::max<Count>(
            sized ? c_.count({"head_dim"}).value_or(1) : hidden_ / attention_.heads, 1);
        const bool bias = c_.flag(c_.has("use_bias")       ? "use_bias"
                                  : c_.has("qkv_bias")     ? "qkv_bias"
                                  : c_.has("use_qkv_bias") ? "use_qkv_bias"
                                  : is("falcon")           ? "bias"
                                                           : "attention_bias",
                                  family_.qkv_bias);
        attention_.in_bias = bias;
        attention_.out_bias = bias && family_.out_has_bias;
        if (is("seed_oss")) {
            attention_.out_bias = c_.flag("attention_out_bias", false);
        }
        attention_.out_bias = attention_.out_bias || is("gpt_neo");
        attention_.norm = family_.qk;
        const bool told = c_.flag("use_qk_norm", is("llama4_text"));
        if (one_of({"glm4_moe", "cohere"}) && told) {
            attention_.norm = is("cohere") ? QkNorm::each_head : QkNorm::head;
        }
        if (is("llama4_text") && told) {
            attention_.norm = QkNorm::plain_head;
        }
        if (is("persimmon") && c_.flag("qk_layernorm", true)) {
            attention_.norm = QkNorm::head_with_shift;
        }
        if (one_of({"phi", "stablelm"}) && c_.flag("qk_layernorm")) {
            c_.refuse("qk_layernorm", "norms of queries and keys are not read",
                      "set it to false, or export the model as ONNX");
        }
        attention_.sinks = one_of({"gpt_oss", "granite_swa"});
        attention_.gate_in_query = one_of({"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"}) &&
                                   c_.flag("attn_output_gate", true);
        attention_.rotary = !one_of({"gpt2", "opt", "jamba", "nemotron_h", "bloom", "gpt_neo",
                                     "gpt_bigcode", "biogpt", "mpt"}) &&
                            !(is("falcon") && c_.flag("alibi"));
        window_ = c_.count_or({"sliding_window", "attention_chunk_size", "window_size"}, 0);
        read_index();
        read_latent();
    }

    // MiniMax-M3: blocks of keys that a small product chooses.
    void read_index() {
        if (!is("minimax_m3_vl_text")) {
            return;
        }
        Config sparse = c_.inner("sparse_attention_config");
        const auto of = [&](const char* name, const char* older, Count usual) {
            return sparse.count_or({older}, c_.count_or({name}, usual));
        };
        attention_.index_heads = of("index_n_heads", "sparse_num_index_heads", 4);
        attention_.index_size = of("index_head_dim", "sparse_index_dim", 128);
        attention_.index_top = (of("index_topk_blocks", "sparse_topk_blocks", 16) +
                                of("index_local_blocks", "sparse_local_block", 1)) *
                               of("index_block_size", "sparse_block_size", 128);
    }

    void read_latent() {
        if (!c_.has("kv_lora_rank") || is("deepseek_v4")) {
            return;
        }
        LatentAttention a;
        a.hidden = hidden_;
        a.heads = attention_.heads;
        a.query_rank = c_.count_or({"q_lora_rank"}, 0);
        a.latent = c_.need({"kv_lora_rank"});
        a.plain = c_.need({"qk_nope_head_dim"});
        a.rotary = c_.need({"qk_rope_head_dim"});
        a.value = c_.need({"v_head_dim"});
        a.bias = attention_.in_bias;
        c_.read("qk_head_dim");
        if (one_of({"deepseek_v32", "glm_moe_dsa"})) {
            a.index_heads = c_.need({"index_n_heads"});
            a.index_size = c_.need({"index_head_dim"});
            a.index_top = c_.count_or({"index_topk"}, 2048);
        }
        latent_ = a;
    }

    bool has_experts() {
        return c_.count_or(
                   {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}, 0) >
                   0 &&
               !(is("jamba") && c_.count_or({"num_experts"}, 1) < 2);
    }

    void read_experts() {
        if (!has_experts()) {
            return;
        }
        Experts e;
        e.hidden = hidden_;
        e.experts =
            c_.need({"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"});
        e.active = c_.need({"num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk",
                            "moe_top_k", "top_k_experts"});
        const auto own = c_.count({"moe_intermediate_size", "expert_ffn_hidden_size"});
        e.inner = own ? *own : inner_of(0);
        const Count shared = c_.count_or({"n_shared_experts", "num_shared_experts",
                                          "moe_num_shared_experts", "num_shared_expert"},
                                         0);
        e.shared_inner =
            c_.count_or({"shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
                         "shared_intermediate_size", "share_expert_dim"},
                        shared > 0 ? shared * e.inner : 0);
        if (is("llama4_text")) {
            e.shared_inner = e.inner;
        } else if (is("hunyuan_v1_moe")) {
            e.shared_inner = e.inner;
        } else if (is("nemotron_h")) {
            e.gated = false;
            e.width = c_.count_or({"moe_latent_size"}, 0);
        }
        e.shared_gate = one_of({"qwen2_moe", "qwen3_next", "qwen3_5_moe_text"});
        e.biases = is("gpt_oss");
        e.router_bias = is("gpt_oss");
        e.router_extra = one_of({"ernie4_5_moe", "afmoe"}) ? e.experts : 0;
        experts_ = e;
    }

    Count inner_of(Count layer, bool dense = false) {
        if (is("minimax_m3_vl_text") && dense) {
            return c_.count_or({"dense_intermediate_size", "intermediate_size"}, 4 * hidden_);
        }
        if (!inners_.empty()) {
            return inners_[static_cast<std::size_t>(
                std::min<Count>(layer, static_cast<Count>(inners_.size()) - 1))];
        }
        if (one_of(
                {"gpt2", "gptj", "falcon", "bloom", "gpt_neo", "gpt_bigcode", "codegen", "rwkv"})) {
            return c_.count_or({"n_inner", "ffn_hidden_size", "intermediate_size"}, 4 * hidden_);
        }
        if (is("mpt")) {
            c_.read("expansion_ratio"); // which the library does not use
            return 4 * hidden_;
        }
        return c_.need({"intermediate_size", "ffn_dim", "ffn_hidden_size"});
    }

    std::string kind(Count i) const {
        return kinds_.empty() ? std::string() : kinds_[static_cast<std::size_t>(i)];
    }

    // Whether a layer sees a window of the keys alone.
    bool is_windowed(Count i) {
        if (window_ == 0) {
            return false;
        }
        if (!kinds_.empty()) {
            return kind(i).starts_with("sliding") || kind(i).starts_with("chunked");
        }
        if (one_of({"mistral", "mixtral", "phi3", "phimoe", "starcoder2", "ministral3",
                    "ministral"})) {
            return true;
        }
        if (one_of({"qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3", "mimo"})) {
            return c_.flag("use_sliding_window") && i >= c_.count_or({"max_window_layers"}, 28);
        }
        if (one_of({"gemma2", "gpt_oss"})) {
            return i % 2 == 0;
        }
        if (is("gpt_neo")) { // global and local, one after the other
            return i % 2 == 1;
        }
        if (is("llama4_text")) {
            return (i + 1) % 4 != 0;
        }
        const Count usual = one_of({"gemma3_text", "gemma4_text"})                   ? 6
                            : is("gemma3n_text")                                     ? 5
                            : one_of({"cohere2", "cohere2_moe", "olmo3", "exaone4"}) ? 4
                                                                                     : 0;
        const Count every =
            c_.count_or({"sliding_window_pattern", "_sliding_window_pattern"}, usual);
        return every > 0 && (i + 1) % every != 0;
    }

    CompressedAttention compressed_of(const std::string& kind, const std::string& types) {
        CompressedAttention a;
        a.hidden = hidden_;
        a.heads = attention_.heads;
        a.size = attention_.size;
        a.types = types;
        a.query_rank = c_.need({"q_lora_rank"});
        a.rotary = c_.count_or({"qk_rope_head_dim"}, 64);
        a.output_groups = std::max<Count>(c_.count_or({"o_groups"}, 8), 1);
        a.output_rank = c_.need({"o_lora_rank"});
        a.window = c_.count_or({"sliding_window"}, 128);
        Config rates = c_.inner("compress_rates");
        if (kind == "compressed_sparse_attention") {
            a.rate = std::max<Count>(rates.count_or({"compressed_sparse_attention"}, 4), 1);
            a.index_heads = c_.need({"index_n_heads"});
            a.index_size = c_.need({"index_head_dim"});
            a.index_top = c_.count_or({"index_topk"}, 512);
        } else if (kind == "heavily_compressed_attention") {
            a.rate = std::max<Count>(rates.count_or({"heavily_compressed_attention"}, 128), 1);
        }
        return a;
    }

    bool is_delta(Count i) {
        if (!one_of({"qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"})) {
            return false;
        }
        const Count every = c_.count_or({"full_attention_interval"}, 4);
        return kinds_.empty() ? every == 0 || (i + 1) % every != 0 : kind(i) == "linear_attention";
    }

    bool is_kimi_delta(Count i) {
        if (!kinds_.empty()) {
            return kind(i) == "linear_attention";
        }
        const auto full = c_.inner("linear_attn_config").counts("full_attn_layers"); // from 1
        return std::ranges::find(full, i + 1) == full.end();
    }

    bool jamba_attends(Count i) {
        return i % c_.count_or({"attn_layer_period"}, 8) == c_.count_or({"attn_layer_offset"}, 4);
    }

    bool bamba_attends(Count i) {
        const auto attend = c_.counts("attn_layer_indices");
        return std::ranges::find(attend, i) != attend.end();
    }

    bool lfm2_attends(Count i) {
        const auto full = c_.counts("full_attn_idxs");
        return !kinds_.empty() ? kind(i) == "full_attention"
                               : full.empty() || std::ranges::find(full, i) != full.end();
    }

    Attention attention_of(Count i, const std::string& types) {
        Attention a = attention_;
        a.types = types;
        const bool near = is_windowed(i);
        a.window = near ? window_ : 0;
        if (is("mimo_v2_flash")) {
            a.value_size = c_.count_or({"v_head_dim"}, a.size);
            a.kv = near ? c_.count_or({"swa_num_key_value_heads"}, 2 * a.kv) : a.kv;
            a.heads = near ? c_.count_or({"swa_num_attention_heads"}, a.heads) : a.heads;
            a.size = near ? c_.count_or({"swa_head_dim"}, a.size) : a.size;
            a.value_size = near ? c_.count_or({"swa_v_head_dim"}, a.value_size) : a.value_size;
            a.sinks = near ? c_.flag("add_swa_attention_sink_bias", true)
                           : c_.flag("add_full_attention_sink_bias");
        } else if (is("gemma4_text")) {
            a.size = near ? a.size : c_.count_or({"global_head_dim"}, far_size(i, a.size));
            a.kv = near ? a.kv : c_.count_or({"num_global_key_value_heads"}, a.kv);
            a.value_is_key = !near && c_.flag("attention_k_eq_v");
            a.shared_keys = i >= layers_ - c_.count_or({"num_kv_shared_layers"}, 0);
        } else if (is("gemma3n_text")) {
            a.shared_keys = i >= layers_ - c_.count_or({"num_kv_shared_layers"}, 15);
        } else if (is("step3p7_text")) {
            const Count heads = per_layer(i, "num_attention_heads");
            a.heads = heads > 0 ? heads : a.heads;
            a.gate = a.heads;
        } else if (is("afmoe")) {
            a.gate = a.heads * a.size;
        } else if (is("minimax_m3_vl_text") && kind(i) != "minimax_m3_sparse") {
            a.index_heads = a.index_top = 0;
        }
        return a;
    }

    // A value of per_layer_config, 0 where it has none.
    Count per_layer(Count i, const char* name) {
        const Config::Json* all = c_.object("per_layer_config");
        if (all == nullptr) {
            return 0;
        }
        for (const std::string& key : {fmt::format("{:02}", i), fmt::format("{}", i)}) {
            const auto layer = all->find(key);
            if (layer != all->end() && layer->is_object() && layer->contains(name) &&
                (*layer)[name].is_number_unsigned()) {
                return (*layer)[name].get<Count>();
            }
        }
        return 0;
    }

    Count far_size(Count i, Count otherwise) {
        const Count own = per_layer(i, "head_dim");
        return own > 0 ? own : otherwise;
    }

    StateSpace state_space_of(const std::string& types) {
        StateSpace s;
        s.hidden = hidden_;
        s.types = types;
        s.taps = c_.count_or({"mamba_d_conv", "conv_kernel"}, 4);
        s.state = c_.count_or({"mamba_d_state", "ssm_state_size", "state_size"}, 128);
        s.conv_bias =
            c_.flag(c_.has("mamba_conv_bias") ? "mamba_conv_bias" : "use_conv_bias", true);
        s.bias = c_.flag(c_.has("mamba_proj_bias") ? "mamba_proj_bias" : "use_bias");
        s.chunk = std::max<Count>(c_.count_or({"mamba_chunk_size", "chunk_size"}, 256), 1);
        const Count wide = c_.count_or({"mamba_expand", "expand"}, 2) * hidden_;
        if (one_of({"jamba", "mamba"})) {
            s.inner = c_.count_or({"intermediate_size"}, 0);
            s.inner = is("jamba") || s.inner == 0 ? wide : s.inner;
            s.rank = c_.count_or({"mamba_dt_rank", "time_step_rank"}, ceil_div(hidden_, 16));
            s.inner_norms = is("jamba");
            return s;
        }
        s.heads = std::max<Count>(
            c_.count_or({"mamba_n_heads", "mamba_num_heads", "num_heads"}, wide / 64), 1);
        s.groups = c_.count_or({"mamba_n_groups", "n_groups"}, 1);
        const Count size = c_.count_or({"mamba_d_head", "mamba_head_dim", "head_dim"},
                                       std::max<Count>(wide / s.heads, 1));
        s.inner = c_.count_or({"mamba_d_ssm"}, is("falcon_h1") ? wide : s.heads * size);
        s.gate_norm = !is("falcon_h1") || c_.flag("mamba_rms_norm");
        return s;
    }

    // Whether the feed-forward part of a layer is of experts.
    bool is_sparse(Count i) {
        if (!experts_) {
            return false;
        }
        const auto at = static_cast<std::size_t>(i);
        if (at < feed_kinds_.size()) {
            return feed_kinds_[at] != "dense" && feed_kinds_[at] != "mlp";
        }
        if (const auto list = c_.counts("moe_layer_freq"); at < list.size()) {
            return list[at] != 0;
        }
        if (c_.has("moe_layers")) {
            const auto list = c_.counts("moe_layers");
            return std::ranges::find(list, i) != list.end();
        }
        if (one_of({"qwen2_moe", "qwen3_moe", "qwen3_vl_moe_text", "qwen3_next",
                    "qwen3_5_moe_text"})) {
            const auto dense = c_.counts("mlp_only_layers");
            const Count step = std::max<Count>(c_.count_or({"decoder_sparse_step"}, 1), 1);
            return std::ranges::find(dense, i) == dense.end() && (i + 1) % step == 0;
        }
        if (is("llama4_text")) {
            const Count step = std::max<Count>(c_.count_or({"interleave_moe_layer_step"}, 1), 1);
            return (i + 1) % step == 0;
        }
        if (is("jamba")) {
            return i % std::max<Count>(c_.count_or({"expert_layer_period"}, 2), 1) ==
                   c_.count_or({"expert_layer_offset"}, 1);
        }
        if (is("ernie4_5_moe")) {
            return (i + 1) % std::max<Count>(c_.count_or({"moe_layer_interval"}, 1), 1) == 0 &&
                   i >= c_.count_or({"moe_layer_start_index"}, 1) &&
                   i <= c_.count_or({"moe_layer_end_index"}, layers_ - 1);
        }
        const Count frequency = c_.counts("moe_layer_freq").empty() && c_.has("moe_layer_freq")
                                    ? std::max<Count>(c_.count_or({"moe_layer_freq"}, 1), 1)
                                    : 1;
        const Count first = c_.count_or({"first_k_dense_replace", "num_dense_layers"}, 0);
        return i >= first && i % frequency == 0;
    }

    // LFM2: two thirds, times a factor, up to a multiple.
    Count adjusted(Count inner) {
        const auto two_thirds = static_cast<double>(2 * inner / 3);
        const auto scaled =
            static_cast<Count>(c_.number("block_ffn_dim_multiplier", 1.0) * two_thirds);
        const Count unit = std::max<Count>(c_.count_or({"block_multiple_of"}, 256), 1);
        return unit * ceil_div(scaled, unit);
    }

    bool is_tied() {
        // The outer configuration's word goes for the whole model.
        c_.read("tie_word_embeddings");
        return outer_.has("tie_word_embeddings") ? outer_.flag("tie_word_embeddings")
                                                 : c_.flag("tie_word_embeddings", family_.tied);
    }

    Config& c_;
    Config& outer_;
    const Family& family_;
    std::string_view type_;
    Count hidden_ = 1, layers_ = 1, vocabulary_ = 1, window_ = 0;
    std::vector<std::string> kinds_, feed_kinds_;
    std::vector<Count> inners_; // of a list
    Attention attention_;
    std::optional<LatentAttention> latent_;
    std::optional<Experts> experts_;
};

// The operators of its layers.
class Decoder : private Sizes {
  public:
    Decoder(Config& text, Config& outer, const Family& family, const std::string& wide)
        : Sizes(text, outer, family),
          quantized_(outer.has("quantization_config") ? outer : text, wide) {}

    Built run() {
        read_sizes();
        add_ends_before();
        for (Count i = 0; i < layers_; ++i) {
            Block layer = norms();
            for (Block part : {mixer(i), ffn(i), extras()}) {
                layer.insert(layer.end(), part.begin(), part.end());
            }
            if (!layer.empty()) {
                layer.push_back(pointwise("residual", fmt::format("{}*words", residuals()),
                                          text_of(hidden_), "add"));
            }
            built_.blocks.add(std::move(layer));
        }
        add_ends_behind();
        built_.latent = latent_.has_value();
        return std::move(built_);
    }

  private:
    Block norms() {
        Count many = family_.norms;
        if (is("gemma4_text") && c_.flag("enable_moe_block")) {
            many += 3;
        } else if (is("gpt_neox")) {
            many = 2;
        } else if (is("hyperclovax") && c_.flag("use_post_norm")) {
            many = 4;
        } else if (is("falcon")) {
            const Count beside = c_.flag("new_decoder_architecture") ? 2 : 1;
            many = c_.flag("parallel_attn", true) ? c_.count_or({"num_ln_in_parallel_attn"}, beside)
                                                  : 2;
        }
        return {norm_of("norm", many)};
    }

    Operator norm_of(const char* name, Count many) const {
        const Count values = family_.norm == NormKind::none    ? 0
                             : family_.norm == NormKind::scale ? 1
                                                               : 2;
        return norm(name, fmt::format("{}*words", many), text_of(hidden_),
                    fmt::format("{}*{}*{}", many, values, hidden_));
    }

    Count residuals() const { return family_.norms == 1 ? 1 : 2; }

    Block mixer(Count i) {
        const std::string of = kind(i);
        const std::string at = is("nemotron_h") ? "mixer." : "self_attn.";
        const std::string types = quantized_.types_of(i, at + "q_proj");
        const std::string out_types = quantized_.types_of(i, at + "o_proj");
        if (one_of({"mamba", "mamba2"}) || of == "mamba" ||
            (of == "linear_attention" && one_of({"nemotron_h", "granitemoehybrid"})) ||
            (is("jamba") && kinds_.empty() && !jamba_attends(i)) ||
            (is("bamba") && !bamba_attends(i)) || (is("jamba") && of == "linear_attention")) {
            return state_space(state_space_of(quantized_.types_of(
                i, one_of({"mamba", "mamba2", "nemotron_h"}) ? "mixer.in_proj" : "mamba.in_proj")));
        }
        if (of == "mlp" || of == "moe") {
            return {};
        }
        if (is("rwkv")) {
            return rwkv_mixer(hidden_, c_.count_or({"attention_hidden_size"}, hidden_));
        }
        if (is("kimi_linear") && is_kimi_delta(i)) {
            Config linear = c_.inner("linear_attn_config");
            return kimi_delta(
                hidden_,
                linear.count_or({"num_heads"}, c_.count_or({"linear_num_heads"}, attention_.heads)),
                linear.count_or({"head_dim"}, c_.count_or({"linear_head_dim"}, attention_.size)),
                linear.count_or({"short_conv_kernel_size"},
                                c_.count_or({"linear_conv_kernel_dim"}, 4)),
                types);
        }
        if (one_of({"lfm2", "lfm2_moe"}) && !lfm2_attends(i)) {
            return short_convolution(hidden_, c_.count_or({"conv_L_cache"}, 3),
                                     c_.flag("conv_bias"), types);
        }
        if (is("minimax") && of == "linear_attention") {
            return lightning_attention(hidden_, attention_.heads, attention_.size, types);
        }
        if (is_delta(i)) {
            return delta_rule({hidden_, c_.need({"linear_num_key_heads"}),
                               c_.need({"linear_num_value_heads"}),
                               c_.need({"linear_key_head_dim"}), c_.need({"linear_value_head_dim"}),
                               c_.count_or({"linear_conv_kernel_dim"}, 4),
                               quantized_.types_of(i, "linear_attn.in_proj_qkvz")});
        }
        if (is("deepseek_v4")) {
            return compressed_attention(compressed_of(of, types));
        }
        if (latent_) {
            LatentAttention a = *latent_;
            a.types = types;
            a.out_types = out_types;
            constexpr auto indexers = std::to_array<std::string_view>({"full", "shared"});
            const auto index = c_.words("indexer_types", indexers);
            if (static_cast<std::size_t>(i) < index.size() &&
                index[static_cast<std::size_t>(i)] == "shared") {
                a.index_heads = 0;
            }
            return latent_attention(a);
        }
        Attention plain = attention_of(i, types);
        plain.out_types = out_types;
        Block block = attention(plain);
        if (is("bitnet")) {
            const std::string width = fmt::format("{}*{}", attention_.heads, attention_.size);
            block.push_back(norm("attention_norm", "words", width, width));
        }
        if (is("falcon_h1")) {
            const Block beside = state_space(state_space_of(types));
            block.insert(block.end(), beside.begin(), beside.end());
        }
        return block;
    }

    Block ffn(Count i) {
        const std::string of = kind(i);
        if (one_of({"mamba", "mamba2"})) {
            return {};
        }
        if (is("rwkv")) {
            return rwkv_feed_forward(hidden_, inner_of(i));
        }
        if (is("nemotron_h")) {
            return of == "moe" ? sparse(i) : of == "mlp" ? dense(i) : Block{};
        }
        if (is("gemma4_text") && c_.flag("enable_moe_block")) {
            Block both = dense(i);
            const Block more = sparse(i);
            both.insert(both.end(), more.begin(), more.end());
            return both;
        }
        return is_sparse(i) ? sparse(i) : dense(i);
    }

    Block sparse(Count i) {
        if (!experts_) {
            return {};
        }
        Experts e = *experts_;
        const std::string of = is("nemotron_h") ? "mixer." : "mlp.";
        e.types = quantized_.types_of(i, of + "experts.0.up_proj");
        e.down_types = quantized_.types_of(i, of + "experts.0.down_proj");
        const std::string shared =
            of + (type_.starts_with("qwen") ? "shared_expert." : "shared_experts.");
        e.shared_types = quantized_.types_of(i, shared + "up_proj");
        e.shared_down_types = quantized_.types_of(i, shared + "down_proj");
        if (is("gemma4_text")) {
            e.router_extra = e.experts + hidden_;
        }
        return experts(e);
    }

    Block dense(Count i) {
        FeedForward f;
        f.hidden = hidden_;
        f.gated = family_.gated && !is("nemotron_h");
        f.inner = inner_of(i, true);
        const std::string at = is("nemotron_h") ? "mixer." : "mlp.";
        f.types = quantized_.types_of(i, at + "up_proj");
        f.down_types = quantized_.types_of(i, at + "down_proj");
        if (is("llama4_text")) {
            f.inner = c_.count_or({"intermediate_size_mlp"}, f.inner);
        } else if (is("gemma4_text") && c_.flag("use_double_wide_mlp") &&
                   i >= layers_ - c_.count_or({"num_kv_shared_layers"}, 0)) {
            f.inner *= 2;
        } else if (one_of({"lfm2", "lfm2_moe"}) &&
                   c_.flag("block_auto_adjust_ff_dim", is("lfm2"))) {
            f.inner = adjusted(f.inner);
        } else if (is("granitemoehybrid") || is("granitemoeshared")) {
            f.inner = c_.count_or({"shared_intermediate_size"}, f.inner);
        }
        const bool always = one_of({"opt", "gpt2", "gpt_neox", "gptj", "phi", "bloom", "gpt_neo",
                                    "gpt_bigcode", "codegen", "biogpt", "persimmon"}) ||
                            (is("falcon") && c_.flag("bias"));
        f.bias =
            always || c_.flag(c_.has("use_bias") && !c_.has("mlp_bias") ? "use_bias" : "mlp_bias",
                              one_of({"starcoder2", "jais2"}));
        if (is("granitemoe")) {
            return {};
        }
        Block block = feed_forward(f);
        if (is("apertus") && c_.word("hidden_act", "xielu") == "xielu") {
            block.push_back(weights_alone("activation_scale", "2"));
        } else if (is("bitnet")) {
            block.push_back(norm("inner_norm", "words", text_of(f.inner), text_of(f.inner)));
        }
        return block;
    }

    // What Gemma 3n, Gemma 4, and DeepSeek-V4 have beside attention and feed-forward.
    Block extras() {
        Block block;
        if (is("deepseek_v4")) { // several streams that each part reads and writes
            const Count streams = c_.count_or({"hc_mult"}, 4);
            const std::string wide = fmt::format("{}*{}", streams, hidden_);
            const Count outputs = (2 + streams) * streams;
            for (const char* name : {"stream_weights", "stream_weights_too"}) {
                block.push_back(gemm(name, text_of(outputs), wide));
                block.push_back(
                    pointwise("stream_mix", "words", wide, "mul", fmt::format("{}+3", outputs)));
            }
            return block;
        }
        const Count beside = one_of({"gemma3n_text", "gemma4_text"})
                                 ? c_.count_or({"hidden_size_per_layer_input"}, 0)
                                 : 0;
        const std::string hidden = text_of(hidden_);
        if (beside > 0) {
            const std::string width = text_of(beside);
            block = {gemm("layer_gate", width, hidden),
                     pointwise("layer_mul", "words", width, "mul"),
                     gemm("layer_out", hidden, width), norm("layer_norm", "words", hidden, hidden)};
        }
        if (is("gemma3n_text")) {
            const std::string rank = text_of(c_.count_or({"laurel_rank"}, 64));
            const Count streams = c_.count_or({"altup_num_inputs"}, 4);
            const std::string many = text_of(streams);
            block.push_back(gemm("laurel_in", rank, hidden));
            block.push_back(gemm("laurel_out", hidden, rank));
            block.push_back(norm("laurel_norm", "words", hidden, hidden));
            block.push_back(gemm("stream_router", many, hidden));
            block.push_back(norm("stream_norm", "words", hidden, hidden));
            block.push_back(gemm("stream_predict", fmt::format("{0}*{0}", many), many));
            block.push_back(gemm("stream_correct", many, many));
            block.push_back(
                pointwise("stream_mix", fmt::format("2*{}*words", many), hidden, "mul", hidden));
        }
        return block;
    }

    void add_ends_before() {
        const Count width = is("opt") ? c_.count_or({"word_embed_proj_dim"}, hidden_) : hidden_;
        Block block = {
            {"embedding",
             fmt::format("op: embedding, rows: =words, cols: {}, n: {}", width, vocabulary_),
             {}}};
        if (one_of({"gpt2", "opt", "gpt_neo", "gpt_bigcode", "biogpt"})) {
            const Count more = one_of({"opt", "biogpt"}) ? 2 : 0;
            const Count places = c_.count_or({"n_positions", "max_position_embeddings"},
                                             one_of({"opt", "gpt_neo"}) ? 2048 : 1024);
            block.push_back({"positions",
                             fmt::format("op: embedding, rows: =words, cols: {}, n: {}", hidden_,
                                         places + more),
                             {}});
        }
        if (one_of({"bloom", "rwkv"})) {
            block.push_back(norm_of("embedding_norm", 1));
        }
        if (width != hidden_) {
            block.push_back(gemm("embedding_in", text_of(hidden_), text_of(width)));
        }
        const Count beside = one_of({"gemma3n_text", "gemma4_text"})
                                 ? c_.count_or({"hidden_size_per_layer_input"}, 0)
                                 : 0;
        if (beside > 0) {
            const std::string all = fmt::format("{}*{}", layers_, beside);
            block.push_back({"layer_embedding",
                             fmt::format("op: embedding, rows: =words, cols: \"={}\", n: {}", all,
                                         c_.count_or({"vocab_size_per_layer_input"}, vocabulary_)),
                             {}});
            block.push_back(gemm("layer_inputs", all, text_of(hidden_)));
            block.push_back(norm("layer_inputs_norm", fmt::format("{}*words", layers_),
                                 text_of(beside), text_of(beside)));
        }
        if (is("gemma3n_text")) {
            const Count more = 2 * (c_.count_or({"altup_num_inputs"}, 4) - 1);
            block.push_back(gemm("streams", fmt::format("{}*{}", more, hidden_), text_of(hidden_)));
        }
        built_.blocks.add(std::move(block));
    }

    void add_ends_behind() {
        Block block;
        const Count width = is("opt") ? c_.count_or({"word_embed_proj_dim"}, hidden_) : hidden_;
        const bool last_norm = !is("opt") || (c_.flag("do_layer_norm_before", true) &&
                                              !c_.flag("_remove_final_layer_norm"));
        if (is("deepseek_v4")) {
            const Count streams = c_.count_or({"hc_mult"}, 4);
            const std::string wide = fmt::format("{}*{}", streams, hidden_);
            block.push_back(gemm("stream_weights", text_of(streams), wide));
            block.push_back(
                pointwise("stream_mix", "words", wide, "mul", fmt::format("{}+1", streams)));
        }
        if (last_norm) {
            block.push_back(norm_of("last_norm", 1));
        }
        if (width != hidden_) {
            block.push_back(gemm("embedding_out", text_of(width), text_of(hidden_)));
        }
        // The class of a wrapper, "InternVLChatModel", says nothing of the language model's head.
        const std::string name = &outer_ == &c_ ? architecture_of(c_) : std::string();
        if (name.ends_with("Model") && !name.ends_with("LMHeadModel")) { // without a head
            built_.blocks.add(std::move(block));
            return;
        }
        const bool asked = name.ends_with("QuestionAnswering");
        if (asked || name.ends_with("SequenceClassification") ||
            name.ends_with("TokenClassification")) {
            const bool one = name.ends_with("SequenceClassification"); // of the last token
            const Count classes = asked ? 2 : classes_of(outer_);
            block.push_back({"head",
                             fmt::format("op: gemm, m: ={}, n: {}, k: {}, parameters: \"={}*{}\"",
                                         one ? "batch" : "words", classes, width, classes,
                                         one ? width : width + 1),
                             {}});
            built_.blocks.add(std::move(block));
            return;
        }
        const bool bias =
            one_of({"phi", "gptj", "codegen"}) || (is("phimoe") && c_.flag("lm_head_bias", true));
        const std::string learned = fmt::format("{}*{}*{}+{}", is_tied() ? 0 : 1, vocabulary_,
                                                width, bias ? vocabulary_ : 0);
        block.push_back({"head",
                         fmt::format("op: gemm, m: =batch, n: {}, k: {}, parameters: \"={}\"",
                                     vocabulary_, width, learned),
                         {}});
        built_.blocks.add(std::move(block));
    }

    Quantization quantized_;
    Built built_;
};

} // namespace

Built build_decoder(Config& text, Config& outer, const std::string& type, const std::string& wide) {
    return Decoder(text, outer, *family_of(type), wide).run();
}

} // namespace eyeroof::formats::hf
