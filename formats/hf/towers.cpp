#include "formats/hf/towers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

std::string linear(const std::string& from, const std::string& to, bool bias = true) {
    return fmt::format("({}*{}{})", from, to, bias ? "+" + to : "");
}

std::string merged(const std::string& wide, const std::string& out) {
    return linear(wide, wide) + "+" + linear(wide, out);
}

// Qwen3-VL and Qwen3.5: patches in time and space, learned places, mergers of four patches.
std::string qwen3_tower(Config& v) {
    const std::string h = fmt::format("{}", v.need({"hidden_size"}));
    const std::string inner = fmt::format("{}", v.need({"intermediate_size"}));
    const std::string out = fmt::format("{}", v.need({"out_hidden_size"}));
    const Count merge = v.count_or({"spatial_merge_size"}, 2);
    const std::string wide = fmt::format("({}*{})", h, merge * merge);
    const Count patch = v.count_or({"patch_size"}, 16);
    const std::string pixels = fmt::format("({}*{}*{}*{})", v.count_or({"in_channels"}, 3),
                                           v.count_or({"temporal_patch_size"}, 2), patch, patch);
    const auto deep = v.counts("deepstack_visual_indexes").size();
    const std::string block = fmt::format("(4*{}+{}+{}+{}+{})", h, linear(h, "(3*" + h + ")"),
                                          linear(h, h), linear(h, inner), linear(inner, h));
    return fmt::format("{}+{}*{}+{}*{}+2*{}+{}+{}*(2*{}+{})", linear(pixels, h),
                       v.count_or({"num_position_embeddings"}, 2304), h, v.need({"depth"}), block,
                       h, merged(wide, out), deep, wide, merged(wide, out));
}

std::string qwen2_tower(Config& v, bool second) {
    const Count width = second ? v.need({"hidden_size"}) : v.need({"embed_dim"});
    const std::string h = fmt::format("{}", width);
    const std::string out =
        fmt::format("{}", second ? v.need({"out_hidden_size"}) : v.need({"hidden_size"}));
    const Count merge = v.count_or({"spatial_merge_size"}, 2);
    const std::string wide = fmt::format("({}*{})", h, merge * merge);
    const Count patch = v.count_or({"patch_size", "spatial_patch_size"}, 14);
    const std::string pixels =
        fmt::format("({}*{}*{}*{})", v.count_or({"in_channels", "in_chans"}, 3),
                    v.count_or({"temporal_patch_size"}, 2), patch, patch);
    const std::string inner = fmt::format(
        "{}", second ? v.need({"intermediate_size"})
                     : static_cast<Count>(v.number("mlp_ratio", 4.0) * static_cast<double>(width)));
    const std::string feed = second ? fmt::format("2*{}+{}", linear(h, inner), linear(inner, h))
                                    : fmt::format("{}+{}", linear(h, inner), linear(inner, h));
    const int values = second ? 1 : 2; // of a norm
    return fmt::format("{}+{}*({}*{}+4*{}+{})+{}*{}+{}", linear(pixels, h, false),
                       v.need({"depth"}), 2 * values, h, linear(h, h), feed, values, h,
                       merged(wide, out));
}

// SigLIP's tower behind Gemma 3's projector.
std::string siglip_tower(Config& v, Count text_width) {
    const std::string h = fmt::format("{}", v.count_or({"hidden_size"}, 768));
    const std::string inner = fmt::format("{}", v.count_or({"intermediate_size"}, 3072));
    const Count patch = std::max<Count>(v.count_or({"patch_size"}, 16), 1);
    const Count side = v.count_or({"image_size"}, 224) / patch;
    const std::string attention = fmt::format("4*{}", linear(h, h));
    const std::string feed = linear(h, inner) + "+" + linear(inner, h);
    const std::string pixels =
        fmt::format("({}*{}*{})", v.count_or({"num_channels"}, 3), patch, patch);
    const std::string head = v.flag("vision_use_head", true)
                                 ? fmt::format("+{0}+{1}+2*{0}+{2}", h, attention, feed)
                                 : std::string();
    return fmt::format("{}+{}*{}+{}*(4*{}+{}+{})+2*{}{}+{}*{}+{}", linear(pixels, h), side * side,
                       h, v.count_or({"num_hidden_layers"}, 12), h, attention, feed, h, head, h,
                       text_width, h);
}

// Kimi K2.5: MoonViT and a projector of four patches.
std::string moonvit_tower(Config& v, Count text_width) {
    const std::string h = fmt::format("{}", v.need({"vt_hidden_size", "hidden_size"}));
    const std::string inner =
        fmt::format("{}", v.need({"vt_intermediate_size", "intermediate_size"}));
    Count merged_patches = 1;
    for (const Count side : v.counts("merge_kernel_size")) {
        merged_patches *= std::min<Count>(side, 64);
    }
    const std::string wide = fmt::format("({}*{})", h, std::max<Count>(merged_patches, 1));
    const Count patch = v.count_or({"patch_size"}, 14);
    const std::string block =
        fmt::format("(4*{}+4*{}+{}+{})", h, linear(h, h), linear(h, inner), linear(inner, h));
    return fmt::format("{}+{}*{}*{}+{}*{}+4*{}+{}", linear(fmt::format("(3*{0}*{0})", patch), h),
                       v.count_or({"init_pos_emb_height", "pos_emb_height"}, 64),
                       v.count_or({"init_pos_emb_width", "pos_emb_width"}, 64), h,
                       v.need({"vt_num_hidden_layers", "num_hidden_layers"}), block, h,
                       merged(wide, fmt::format("{}", text_width)));
}

// Gemma 4: gated layers with four norms, places by row and column, a projector.
std::string gemma4_tower(Config& v, Count text_width) {
    const std::string h = fmt::format("{}", v.need({"hidden_size"}));
    const std::string inner = fmt::format("{}", v.need({"intermediate_size"}));
    const Count heads = v.need({"num_attention_heads"});
    const Count size = v.count_or({"head_dim"}, 64);
    const Count kv = v.count_or({"num_key_value_heads"}, heads);
    const Count patch = v.count_or({"patch_size"}, 16);
    const std::string block = fmt::format("(4*{0}+2*{1}+2*{0}*{2}*{1}+2*{0}*{3}*{1}+3*{0}*{4})", h,
                                          size, heads, kv, inner);
    return fmt::format("3*{0}*{0}*{1}+2*{2}*{1}+{3}*{4}+{1}*{5}", patch, h,
                       v.count_or({"position_embedding_size"}, 10240),
                       v.need({"num_hidden_layers"}), block, text_width);
}

} // namespace

std::string tower_parameters(Config& vision, const std::string& type, Count text_width) {
    if (type.starts_with("qwen3_vl") || type.starts_with("qwen3_5")) {
        return qwen3_tower(vision);
    }
    if (type.starts_with("qwen2_vl") || type.starts_with("qwen2_5_vl")) {
        return qwen2_tower(vision, type.starts_with("qwen2_5"));
    }
    if (type == "kimi_k25") {
        return moonvit_tower(vision, text_width);
    }
    if (type == "gemma4") {
        return gemma4_tower(vision, text_width);
    }
    return type == "gemma3" ? siglip_tower(vision, text_width) : std::string();
}

} // namespace eyeroof::formats::hf
