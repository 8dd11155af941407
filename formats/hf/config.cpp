#include "formats/hf/config.hpp"

#include "model/workload/layer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::formats::hf {

namespace {

const Config::Json kNothing = Config::Json::object();

// Of training, of the tokenizer, of generation, and of how the same sums are worked out: no size.
constexpr auto kNeutral = std::to_array<std::string_view>({
    "architectures",
    "auto_map",
    "transformers_version",
    "use_cache",
    "return_dict",
    "is_decoder",
    "cross_attention_hidden_size",
    "add_cross_attention",
    "tie_encoder_decoder",
    "torchscript",
    "problem_type",
    "finetuning_task",
    "id2label",
    "label2id",
    "task_specific_params",
    "pruned_heads",
    "tokenizer_class",
    "prefix",
    "use_bfloat16",
    "pretraining_tp",
    "attn_implementation",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_name_or_path",
    "name_or_path",
    "model_type",
    "max_window_layers",
    "max_position_embeddings",
    "seq_length",
    "max_sequence_length",
    "routed_scaling_factor",
    "scoring_func",
    "topk_method",
    "norm_topk_prob",
    "n_group",
    "topk_group",
    "ep_size",
    "seq_aux",
    "logits_scaling",
    "embedding_multiplier",
    "residual_multiplier",
    "attention_multiplier",
    "logit_scale",
    "swiglu_limit",
    "use_qk_norm_in_dit",
    "hidden_activation",
    "layer_norm_type",
    "query_pre_attn_scalar",
    "scale_attn_weights",
    "scale_attn_by_inverse_layer_idx",
    "reorder_and_upcast_attn",
    "time_step_min",
    "time_step_max",
    "time_step_floor",
    "time_step_limit",
    "residual_in_fp32",
    "rescale_prenorm_residual",
    "mamba_ssm_dtype",
    "mamba_ssm_cache_dtype",
    "use_mamba_kernels",
    "bad_words_ids",
    "suppress_tokens",
    "begin_suppress_tokens",
    "partial_rotary_factor",
    "num_logits_to_keep",
    "position_embedding_type",
    "unk_token",
    "sep_token",
    "image_seq_length",
    "chunk_size_feed_forward",
    "router_jitter_noise",
    "input_jitter_noise",
    "is_encoder_decoder",
    "moe_router_topk_scaling_factor",
    "no_rope_layers",
    "no_rope_layer_interval",
    "unsloth_fixed",
    "mlp_hidden_act",
    "clip_qkv",
    "swiglu_alpha",
    "temporal_patch_size",
    "tokens_per_second",
    "transformers.js_config",
    "attention_value_scale",
    "moe_router_scaling_factor",
    "scale_embedding",
    "forced_decoder_ids",
    "median_filter_width",
    "apply_spec_augment",
    "max_source_positions_",
    "n_ctx",
    "embd_pdrop",
    "resid_pdrop",
    "attn_pdrop",
    "activation_function",
    "do_layer_norm_before_",
    "max_relative_positions",
    "legacy",
    "pooler_hidden_size",
    "inner_group_num",
    "encoder_layerdrop",
    "decoder_layerdrop",
    "relative_attention_max_distance",
    "dense_act_fn",
    "is_gated_act",
    "scale_decoder_outputs",
    "max_seq_len",
    "emb_pdrop",
    "no_bias",
    "embedding_fraction",
    "norm_type",
    "force_image_size",
    "torch_dtype",
    "dtype",
    "ignore_index",
    "vision_feature_select_strategy",
    "mm_tokens_per_image",
    "max_dynamic_patch",
    "min_dynamic_patch",
    "dynamic_image_size",
    "use_thumbnail",
    "ps_version",
    "template",
    "system_message",
    "select_layer",
    "pad2square",
    "use_backbone_lora",
    "use_llm_lora",
    "use_flash_attn",
    "drop_path_rate",
    "image_fold",
});
// "bos_token_id", "rope_theta", "attention_dropout", "rms_norm_eps", …
constexpr auto kNeutralParts = std::to_array<std::string_view>(
    {"token_id", "rope", "dropout", "initializer", "_eps", "epsilon", "hidden_act", "aux_loss",
     "z_loss", "output_", "softcapping", "summary_", "mask_", "_token_index", "_seed", "init_"});

bool is_neutral(std::string_view name) {
    return std::ranges::find(kNeutral, name) != kNeutral.end() ||
           std::ranges::any_of(kNeutralParts, [&](std::string_view part) {
               return name.find(part) != std::string_view::npos;
           });
}

} // namespace

Config::Config(const Json& json, std::string_view text, const std::string& file, Diagnostics& found)
    : json_(json.is_object() ? &json : &kNothing), text_(text), file_(file), found_(&found) {}

const Config::Json* Config::find(const char* name) {
    read_.insert(name);
    const auto at = json_->find(name);
    return at == json_->end() || at->is_null() ? nullptr : &*at;
}

bool Config::has(const char* name) const {
    const auto at = json_->find(name);
    return at != json_->end() && !at->is_null();
}

int Config::line_of(std::string_view name) const {
    const std::size_t at = text_.find(fmt::format("\"{}\"", name));
    const auto end =
        text_.begin() + static_cast<std::ptrdiff_t>(at == std::string_view::npos ? 0 : at);
    return at == std::string_view::npos
               ? 0
               : 1 + static_cast<int>(std::count(text_.begin(), end, '\n'));
}

void Config::refuse(const char* name, const std::string& why, const std::string& hint) {
    found_->error("unsupported", fmt::format("{}: {}", name, why), hint,
                  {file_, line_of(name), line_of(name) > 0 ? 1 : 0});
}

void Config::refuse_type(const char* name, const Json& value, std::string_view wanted) {
    refuse(name, fmt::format("{} is not {}", value.dump().substr(0, 40), wanted),
           fmt::format("write {}", wanted));
}

std::optional<Count> Config::count(Names names) {
    for (const char* name : names) {
        const Json* value = find(name);
        if (value == nullptr) {
            continue;
        }
        const double number = value->is_number() ? value->get<double>() : -1.0;
        const bool whole = number >= 0.0 && number <= static_cast<double>(model::kMaxDimension) &&
                           number == std::floor(number);
        if (!whole) {
            refuse(name, fmt::format("{} is not a whole number", value->dump().substr(0, 40)),
                   "write a number of 0 or more");
            return std::nullopt;
        }
        return static_cast<Count>(number);
    }
    return std::nullopt;
}

Count Config::need(Names names) {
    const std::size_t before = found_->size();
    const auto value = count(names);
    if (!value && found_->size() == before) {
        found_->error("missing-key", fmt::format("the configuration has no {}", *names.begin()),
                      "is this the whole config.json of the model?", {file_, 0, 0});
    }
    return value.value_or(1);
}

bool Config::flag(const char* name, bool otherwise) {
    const Json* value = find(name);
    if (value == nullptr) {
        return otherwise;
    }
    if (value->is_boolean()) {
        return value->get<bool>();
    }
    if (value->is_number() && (*value == 0 || *value == 1)) {
        return *value == 1;
    }
    refuse_type(name, *value, "true or false");
    return otherwise;
}

std::string Config::word(const char* name, std::string otherwise) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_string()) {
        refuse_type(name, *value, "a word");
    }
    return value != nullptr && value->is_string() ? value->get<std::string>()
                                                  : std::move(otherwise);
}

double Config::number(const char* name, double otherwise) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_number()) {
        refuse_type(name, *value, "a number");
    }
    return value != nullptr && value->is_number() ? value->get<double>() : otherwise;
}

std::vector<std::string> Config::words(const char* name, std::span<const std::string_view> known) {
    std::vector<std::string> list;
    const Json* value = find(name);
    if (value == nullptr) {
        return list;
    }
    const auto is_word = [](const Json& item) { return item.is_string(); };
    if (!value->is_array() || !std::ranges::all_of(*value, is_word)) {
        refuse_type(name, *value, "a list of words");
        return list;
    }
    for (const Json& item : *value) {
        list.push_back(item.get<std::string>());
        if (!known.empty() && std::ranges::find(known, list.back()) == known.end()) {
            refuse(name, fmt::format("'{}' is not known", list.back().substr(0, 40)),
                   fmt::format("known: {}", fmt::join(known, ", ")));
            return {};
        }
    }
    return list;
}

std::vector<Count> Config::counts(const char* name) {
    std::vector<Count> list;
    const Json* value = find(name);
    if (value == nullptr || value->is_number()) {
        return list;
    }
    const auto is_count = [](const Json& item) {
        const double number = item.is_number() ? item.get<double>() : -1.0;
        return item.is_boolean() ||
               (number >= 0.0 && number <= static_cast<double>(model::kMaxDimension) &&
                number == std::floor(number));
    };
    if (!value->is_array() || !std::ranges::all_of(*value, is_count)) {
        refuse_type(name, *value, "a list of whole numbers of 0 or more");
        return list;
    }
    for (const Json& item : *value) {
        list.push_back(item.is_boolean() ? Count{item.get<bool>()} : item.get<Count>());
    }
    return list;
}

bool Config::is_list(const char* name) {
    const Json* value = find(name);
    return value != nullptr && value->is_array();
}

std::size_t Config::length(const char* name) {
    const Json* value = find(name);
    return value != nullptr && value->is_array() ? value->size() : 0;
}

const Config::Json* Config::object(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_object()) {
        refuse_type(name, *value, "an object");
        return nullptr;
    }
    return value;
}

bool Config::is_object(const char* name) const {
    const auto at = json_->find(name);
    return at != json_->end() && at->is_object();
}

const Config::Json& Config::entries(const char* name) {
    const Json* value = object(name);
    return value == nullptr ? kNothing : *value;
}

Config Config::inner(const char* name) {
    return with(entries(name));
}

void Config::tell_unread() {
    std::string list;
    for (const auto& [name, value] : json_->items()) {
        const bool off = value.is_null() || (value.is_boolean() && !value.get<bool>());
        if (!off && !read_.contains(name) && !is_neutral(name)) {
            list += (list.empty() ? "" : ", ") + name.substr(0, 60);
        }
    }
    if (!list.empty()) {
        found_->warning(
            "unread-key",
            fmt::format("these keys are not read, and what they change is not in the answer: {}",
                        list),
            {}, {file_, 0, 0});
    }
}

} // namespace eyeroof::formats::hf
