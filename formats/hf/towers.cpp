#include "formats/hf/towers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

// Learned values, in doubles: exact up to 2^53, which tower_parameters() checks.
double size_of(Config& c, Config::Names names) {
    return static_cast<double>(c.need(names));
}

double size_or(Config& c, Config::Names names, Count otherwise) {
    return static_cast<double>(c.count_or(names, otherwise));
}

double linear(double from, double to, bool bias = true) {
    return from * to + (bias ? to : 0.0);
}

double merged(double wide, double out) {
    return linear(wide, wide) + linear(wide, out);
}

double square(double side) {
    return side * side;
}

double feed_forward_values(double h, double inner) {
    return linear(h, inner) + linear(inner, h);
}

// Channels, images of a moment, and the patch's sides.
double pixels_of(Config& v, Count times, Count patch) {
    return size_or(v, {"in_channels", "in_chans", "num_channels"}, 3) *
           size_or(v, {"temporal_patch_size"}, times) *
           square(size_or(v, {"patch_size", "spatial_patch_size"}, patch));
}

// Qwen3-VL and Qwen3.5: patches in time and space, learned places, mergers of four patches.
double qwen3_tower(Config& v) {
    const double h = size_of(v, {"hidden_size"});
    const double out = size_of(v, {"out_hidden_size"});
    const double wide = h * square(size_or(v, {"spatial_merge_size"}, 2));
    const auto deep = static_cast<double>(v.length("deepstack_visual_indexes"));
    const double block = 4 * h + linear(h, 3 * h) + linear(h, h) +
                         feed_forward_values(h, size_of(v, {"intermediate_size"}));
    return linear(pixels_of(v, 2, 16), h) + size_or(v, {"num_position_embeddings"}, 2304) * h +
           size_of(v, {"depth"}) * block + 2 * h + merged(wide, out) +
           deep * (2 * wide + merged(wide, out));
}

double qwen2_tower(Config& v, bool second) {
    const double h = second ? size_of(v, {"hidden_size"}) : size_of(v, {"embed_dim"});
    const double out = second ? size_of(v, {"out_hidden_size"}) : size_of(v, {"hidden_size"});
    const double wide = h * square(size_or(v, {"spatial_merge_size"}, 2));
    const double inner =
        second ? size_of(v, {"intermediate_size"})
               : static_cast<double>(static_cast<Count>(v.number("mlp_ratio", 4.0) * h));
    const double feed = feed_forward_values(h, inner) + (second ? linear(h, inner) : 0.0);
    const double values = second ? 1 : 2; // of a norm
    return linear(pixels_of(v, 2, 14), h, false) +
           size_of(v, {"depth"}) * (2 * values * h + 4 * linear(h, h) + feed) + values * h +
           merged(wide, out);
}

// SigLIP's tower; of SigLIP 2, whose patches are of images of any size, as well.
double siglip_tower(Config& v, bool pools) {
    const double h = size_or(v, {"hidden_size"}, 768);
    const double feed = feed_forward_values(h, size_or(v, {"intermediate_size"}, 3072));
    const Count patch = std::max<Count>(v.count_or({"patch_size"}, 16), 1);
    const auto side = static_cast<double>(v.count_or({"image_size"}, 224) / patch);
    const double places = size_or(v, {"num_patches"}, static_cast<Count>(square(side)));
    const double head =
        pools && v.flag("vision_use_head", true) ? h + 4 * linear(h, h) + 2 * h + feed : 0.0;
    return linear(pixels_of(v, 1, 16), h) + places * h +
           size_or(v, {"num_hidden_layers"}, 12) * (4 * h + 4 * linear(h, h) + feed) + 2 * h + head;
}

// CLIP's tower: a class token, no bias of the patches, a norm before the layers.
double clip_tower(Config& v) {
    const double h = size_or(v, {"hidden_size"}, 768);
    const Count patch = std::max<Count>(v.count_or({"patch_size"}, 32), 1);
    const auto side = static_cast<double>(v.count_or({"image_size"}, 224) / patch);
    const double feed = feed_forward_values(h, size_or(v, {"intermediate_size"}, 3072));
    return pixels_of(v, 1, 32) * h + h + (square(side) + 1) * h + 4 * h +
           size_or(v, {"num_hidden_layers"}, 12) * (4 * h + 4 * linear(h, h) + feed);
}

// InternViT: scales of what a layer adds; queries, keys, and values may have biases and norms.
double intern_tower(Config& v, Config& outer, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 1024);
    const auto sides = [&v](const char* name, Count usual) {
        const auto both = v.counts(name);
        return both.empty() ? v.count_or({name}, usual) : both.front();
    };
    const Count patch = std::max<Count>(sides("patch_size", 14), 1);
    const auto side = static_cast<double>(sides("image_size", 448) / patch);
    const double feed = feed_forward_values(h, size_or(v, {"intermediate_size"}, 4096));
    const bool older = v.word("model_type").starts_with("intern_vit"); // with its own classes
    const bool scaled = v.word("norm_type", older ? "rms_norm" : "layer_norm") == "rms_norm";
    const double norm = scaled ? h : 2 * h;
    const double qkv = 3 * linear(h, h, v.flag(older ? "qkv_bias" : "attention_bias"));
    const bool normed = older ? v.flag("qk_normalization", true) : v.flag("use_qk_norm");
    const double qk_norms = normed ? 2 * h : 0.0;
    const double masks = v.flag("use_mask_token") ? h : 0.0;
    const double places = v.flag("use_absolute_position_embeddings", true) ? square(side) + 1 : 0.0;
    const double last = older || v.flag("use_mean_pooling", true) ? 0.0 : 2 * h;
    const double merged = h / square(outer.number("downsample_ratio", 0.5));
    return linear(3 * square(static_cast<double>(patch)), h) + h + masks + places * h +
           size_or(v, {"num_hidden_layers"}, 24) *
               (2 * h + 2 * norm + qkv + qk_norms + linear(h, h) + feed) +
           last + 2 * merged + linear(merged, text_width) + linear(text_width, text_width);
}

// Whisper's encoder as a tower; positions are fixed and stored.
double whisper_tower(Config& a) {
    const double h = size_or(a, {"d_model", "hidden_size"}, 1280);
    const double feed =
        feed_forward_values(h, size_or(a, {"encoder_ffn_dim", "intermediate_size"}, 5120));
    constexpr double kTaps = 3.0;
    return linear(kTaps * size_or(a, {"num_mel_bins"}, 128), h) + linear(kTaps * h, h) +
           size_or(a, {"max_source_positions"}, 1500) * h +
           size_or(a, {"encoder_layers", "num_hidden_layers"}, 32) *
               (4 * h + 4 * h * h + 3 * h + feed) +
           2 * h;
}

// What leads from a CLIP's or SigLIP's features to the text's width, by the whole's type.
double projector_values(Config& v, Config& outer, const std::string& type, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 768);
    if (type.starts_with("llava")) {
        const auto layers =
            static_cast<double>(std::max<std::size_t>(outer.length("vision_feature_layer"), 1));
        const bool bias = outer.flag("multimodal_projector_bias", true);
        const double line = type == "llava" ? 0.0 : text_width; // where a row of an image ends
        return linear(layers * h, text_width, bias) + linear(text_width, text_width, bias) + line;
    }
    if (type == "paligemma") {
        return linear(h, size_or(outer, {"projection_dim"}, static_cast<Count>(text_width)));
    }
    if (type == "gemma3" || type == "shieldgemma2") {
        return h * text_width + h;
    }
    if (type == "idefics3" || type == "smolvlm") {
        return h * square(size_or(outer, {"scale_factor"}, 2)) * text_width;
    }
    if (type == "cohere2_vision") {
        const double wide = size_or(outer, {"alignment_intermediate_size"}, 36864);
        return linear(h * square(size_or(outer, {"downsample_factor"}, 2)), wide) +
               linear(wide / 2, text_width);
    }
    if (type == "lfm2_vl") {
        const double merged = h * square(size_or(outer, {"downsample_factor"}, 2));
        const double wide = size_or(outer, {"projector_hidden_size"}, 2560);
        const bool bias = outer.flag("projector_bias", true);
        return (outer.flag("projector_use_layernorm", true) ? 2 * merged : 0.0) +
               linear(merged, wide, bias) + linear(wide, text_width, bias);
    }
    return -1.0;
}

// A tower of a usual kind behind a projector that is known; 0 where either is not.
double usual_tower(Config& v, Config& outer, const std::string& type, double text_width) {
    const std::string kind = v.word("model_type");
    const bool pools = type != "idefics3" && type != "smolvlm";
    const bool siglip = kind.find("siglip") != std::string::npos || type == "gemma3" || !pools ||
                        type == "shieldgemma2" || (type == "paligemma" && kind.empty());
    const double projector = projector_values(v, outer, type, text_width);
    const double tower = siglip                                      ? siglip_tower(v, pools)
                         : kind.find("clip") != std::string::npos    ? clip_tower(v)
                         : kind.empty() && type.starts_with("llava") ? clip_tower(v)
                                                                     : 0.0;
    return projector < 0.0 || tower == 0.0 ? 0.0 : tower + projector;
}

// Kimi K2.5: MoonViT and a projector of four patches.
double moonvit_tower(Config& v, double text_width) {
    const double h = size_of(v, {"vt_hidden_size", "hidden_size"});
    double wide = h;
    for (const Count side : v.counts("merge_kernel_size")) {
        wide *= static_cast<double>(side);
    }
    const double block =
        4 * h + 4 * linear(h, h) +
        feed_forward_values(h, size_of(v, {"vt_intermediate_size", "intermediate_size"}));
    return linear(pixels_of(v, 1, 14), h) +
           size_or(v, {"init_pos_emb_height", "pos_emb_height"}, 64) *
               size_or(v, {"init_pos_emb_width", "pos_emb_width"}, 64) * h +
           size_of(v, {"vt_num_hidden_layers", "num_hidden_layers"}) * block + 4 * h +
           merged(wide, text_width);
}

// Gemma 4: gated layers with four norms, places by row and column, a projector.
double gemma4_tower(Config& v, double text_width) {
    const double h = size_of(v, {"hidden_size"});
    const Count heads = v.need({"num_attention_heads"});
    const double size = size_or(v, {"head_dim"}, 64);
    const double all = static_cast<double>(heads) * size;
    const double shared = size_or(v, {"num_key_value_heads"}, heads) * size;
    const double block =
        4 * h + 2 * size + 2 * h * all + 2 * h * shared + 3 * h * size_of(v, {"intermediate_size"});
    return 3 * square(size_or(v, {"patch_size"}, 16)) * h +
           2 * size_or(v, {"position_embedding_size"}, 10240) * h +
           size_of(v, {"num_hidden_layers"}) * block + h * text_width;
}

// Llama 4: a class token, learned places, an adapter of four patches, and a projector.
double llama4_tower(Config& v, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 768);
    const double inner = size_or(v, {"intermediate_size"}, 5632);
    const Count patch = std::max<Count>(v.count_or({"patch_size"}, 14), 1);
    const auto side = static_cast<double>(v.count_or({"image_size"}, 448) / patch);
    const double adapted = size_or(v, {"projector_input_dim"}, 4096);
    return h + (square(side) + 1) * h + pixels_of(v, 1, 14) * h + 4 * h +
           size_or(v, {"num_hidden_layers"}, 34) *
               (4 * h + 4 * linear(h, h) + feed_forward_values(h, inner)) +
           inner * adapted + adapted * size_or(v, {"projector_output_dim"}, 4096) +
           size_or(v, {"vision_output_dim"}, 7680) * text_width;
}

// Pixtral behind Mistral 3's projector of four patches.
double pixtral_tower(Config& v, Config& outer, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 1024);
    const double merge = square(size_or(outer, {"spatial_merge_size"}, 2));
    const bool bias = outer.flag("multimodal_projector_bias");
    return pixels_of(v, 1, 16) * h + h +
           size_or(v, {"num_hidden_layers"}, 24) *
               (2 * h + 4 * h * h + 3 * h * size_or(v, {"intermediate_size"}, 4096)) +
           h + h * h * merge + linear(h, text_width, bias) + linear(text_width, text_width, bias);
}

// Step 3.7: layers with scales of what they add, and two convolutions that halve the sides.
double step_tower(Config& v, Config& outer, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 1536);
    const double feed = feed_forward_values(h, size_or(v, {"intermediate_size"}, 8960));
    constexpr double kTaps = 9.0;
    return pixels_of(v, 1, 14) * h + size_or(v, {"max_position_embeddings"}, 2704) * h + 2 * h +
           size_or(v, {"num_hidden_layers"}, 47) * (6 * h + 4 * linear(h, h) + feed) +
           linear(kTaps * h, 2 * h) + linear(kTaps * 2 * h, 4 * h) +
           linear(4 * h, text_width, outer.flag("projector_bias"));
}

// GLM-4.1V: gated layers, a convolution that merges four patches, and a gated merger.
double glm4v_tower(Config& v) {
    const double h = size_or(v, {"hidden_size"}, 1536);
    const double out = size_or(v, {"out_hidden_size"}, 4096);
    const double inner = size_or(v, {"intermediate_size"}, 13696);
    const Count patch = std::max<Count>(v.count_or({"patch_size"}, 14), 1);
    const auto side = static_cast<double>(v.count_or({"image_size"}, 336) / patch);
    const bool bias = v.flag("attention_bias");
    const double merge = square(size_or(v, {"spatial_merge_size"}, 2));
    return linear(pixels_of(v, 2, 14), h) + square(side) * h +
           size_or(v, {"depth"}, 24) * (2 * h + linear(h, 3 * h, bias) + h * h + 3 * h * out) +
           out * out + 2 * out + 3 * out * inner + h + linear(h * merge, out) + h;
}

// MiniMax-M3: patches in time and space, and two projectors of two layers, of a patch and of four.
double minimax_tower(Config& v, Config& outer, double text_width) {
    const double h = size_or(v, {"hidden_size"}, 1280);
    const double inner = size_or(v, {"intermediate_size"}, 5120);
    const double wide = size_or(outer, {"projector_hidden_size"}, static_cast<Count>(text_width));
    const double merge = square(size_or(v, {"spatial_merge_size"}, 2));
    return pixels_of(v, 2, 14) * h + 2 * h +
           size_or(v, {"num_hidden_layers"}, 32) *
               (4 * h + 4 * linear(h, h) + feed_forward_values(h, inner)) +
           linear(h, wide) + linear(wide, text_width) + linear(merge * text_width, wide) +
           linear(wide, text_width);
}

double values_of(Config& vision, Config& outer, const std::string& type, double text_width) {
    return type.starts_with("qwen3_vl") || type.starts_with("qwen3_5") ? qwen3_tower(vision)
           : type.starts_with("qwen2_vl") || type.starts_with("qwen2_5_vl")
               ? qwen2_tower(vision, type.starts_with("qwen2_5"))
           : type == "kimi_k25"                  ? moonvit_tower(vision, text_width)
           : type == "gemma4"                    ? gemma4_tower(vision, text_width)
           : type == "llama4"                    ? llama4_tower(vision, text_width)
           : type == "mistral3"                  ? pixtral_tower(vision, outer, text_width)
           : type.starts_with("minimax_m3")      ? minimax_tower(vision, outer, text_width)
           : type == "step3p7"                   ? step_tower(vision, outer, text_width)
           : type == "glm4v" || type == "glm46v" ? glm4v_tower(vision)
           : type.starts_with("internvl")        ? intern_tower(vision, outer, text_width)
                                                 : usual_tower(vision, outer, type, text_width);
}

double sound_values(Config& audio, Config& outer, const std::string& type, double text_width) {
    const double h = size_or(audio, {"d_model", "hidden_size"}, 1280);
    if (type == "qwen2_audio") {
        return whisper_tower(audio) + linear(h, text_width);
    }
    if (type == "voxtral") {
        outer.read("projector_hidden_act");
        return whisper_tower(audio) + size_or(audio, {"intermediate_size"}, 5120) * text_width +
               square(text_width);
    }
    return 0.0;
}

} // namespace

bool has_usual_tower(const std::string& type) {
    return type == "llama4" || type == "step3p7";
}

std::string tower_parameters(Config& tower, Config& outer, const std::string& type,
                             Count text_width, bool sound) {
    constexpr double kExact = 9007199254740992.0;
    const auto width = static_cast<double>(text_width);
    const double values =
        sound ? sound_values(tower, outer, type, width) : values_of(tower, outer, type, width);
    if (values > kExact) {
        tower.refuse("hidden_size", "the tower has more than 2^53 learned values",
                     "check the sizes of vision_config or audio_config");
        return "0";
    }
    return values > 0.0 ? fmt::format("{:.0f}", values) : std::string();
}

} // namespace eyeroof::formats::hf
