#include "formats/hf/encoder_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::formats::hf {

namespace {

class ImageEncoder : public EncoderParts {
  public:
    using EncoderParts::EncoderParts;

    void run() {
        if (one_of({"clip", "siglip"})) {
            pair();
        } else if (type_.ends_with("text_model")) {
            text_of_pair(c_, {});
        } else {
            image(c_, {});
        }
    }

  private:
    // Patches of a square image as tokens; `outer` names the operators.
    void image(Config& c, const std::string& outer) {
        EncoderLayer l;
        l.hidden = c.count_or({"hidden_size"}, 768);
        l.heads = l.kv = std::max<Count>(c.count_or({"num_attention_heads"}, 12), 1);
        l.size = std::max<Count>(l.hidden / l.heads, 1);
        const bool gated = c.flag("use_swiglu_ffn") || c.flag("use_gated_mlp");
        const auto ratio = c.number("mlp_ratio", 4.0);
        l.inner = c.count_or({"intermediate_size"},
                             static_cast<Count>(ratio * static_cast<double>(l.hidden)));
        const Count side = c.count_or({"image_size"}, 224);
        const Count patch = std::max<Count>(c.count_or({"patch_size"}, 16), 1);
        const Count channels = c.count_or({"num_channels"}, 3);
        const bool dino2 = one_of({"dinov2", "dinov2_with_registers"});
        const bool siglip = type_.starts_with("siglip"), clip = type_.starts_with("clip");
        const Count registers =
            c.count_or({"num_register_tokens"}, is("dinov2_with_registers") ? 4 : 0);
        const Count more = siglip ? 0 : is("deit") ? 2 : 1 + registers;
        l.tokens = outer.empty() ? Tokens{} : Tokens{"image_words", "patches", "patches", "image_"};
        if (outer.empty()) {
            parameters(fmt::format("image: {{default: {}, min: {}, meaning: \"height and width\"}}",
                                   side, patch));
            built_.names =
                fmt::format("new: \"=(image/{0})*(image/{0})+{1}\", seen: =new, words: =batch*new",
                            patch, more);
        }
        add({l.tokens.prefix + "patches",
             fmt::format("op: conv2d, n: =batch, c: {0}, h: =image, w: =image, k: {1}, r: {2}, s: "
                         "{2}, stride: {2}{3}",
                         channels, l.hidden, patch, clip ? "" : ", bias: 1"),
             {}});
        const Count places = (side / patch) * (side / patch);
        const bool masks = dino2 || is("dinov3_vit") ||
                           (one_of({"beit", "data2vec-vision"}) && c.flag("use_mask_token"));
        const bool placed = one_of({"beit", "data2vec-vision"})
                                ? c.flag("use_absolute_position_embeddings")
                                : !is("dinov3_vit");
        const Count marked = siglip ? places : places + (is("deit") ? 2 : 1);
        add({l.tokens.prefix + "positions",
             fmt::format("op: elementwise, rows: \"={}\", cols: {}, fn: add, parameters: {}",
                         l.tokens.all, l.hidden,
                         l.hidden * ((placed ? marked : 0) + more + (masks ? 1 : 0))),
             {}});
        if (clip) {
            add(norm_of(l.tokens, "first_norm", l.hidden, 2 * l.hidden));
        }
        set_image_layer(c, l, gated);
        built_.blocks.add(encoder_layer(l), c.count_or({"num_hidden_layers"}, 12));
        image_end(c, l, outer);
    }

    void set_image_layer(Config& c, EncoderLayer& l, bool gated) {
        const bool scaled = one_of({"beit", "data2vec-vision"})
                                ? c.number("layer_scale_init_value", 0.1) > 0.0
                                : one_of({"dinov2", "dinov2_with_registers", "dinov3_vit"});
        l.extra = scaled ? 2 * l.hidden : 0;
        if (one_of({"beit", "data2vec-vision"})) {
            l.biases = 2;
            if (c.flag("use_relative_position_bias")) {
                relative_image(c, l);
            }
        }
        if (is("dinov3_vit")) {
            l.rotary = true;
            l.biases = (c.flag("query_bias", true) ? 1 : 0) + (c.flag("key_bias") ? 1 : 0) +
                       (c.flag("value_bias", true) ? 1 : 0);
            l.out_bias = c.flag("proj_bias", true);
            l.mlp_bias = c.flag("mlp_bias", true);
            l.gated = gated;
        } else if (gated) { // two thirds of the width, up to a multiple of eight
            const Count wide = 2 * l.inner / 3;
            l.gated = true;
            l.inner = (wide + 7) / 8 * 8;
        }
        if (one_of({"vit", "vit_msn", "deit", "dinov2", "dinov2_with_registers"})) {
            l.biases = c.flag("qkv_bias", true) ? 3 : 0;
        }
    }

    void relative_image(Config& c, EncoderLayer& l) {
        const Count patches =
            c.count_or({"image_size"}, 224) / std::max<Count>(c.count_or({"patch_size"}, 16), 1);
        const Count span = 2 * patches - 1;
        l.extra += (span * span + 3) * l.heads;
    }

    void image_end(Config& c, const EncoderLayer& l, const std::string& outer) {
        const std::string name = outer.empty() ? architecture_of(c) : outer;
        const bool classes = name.ends_with("ForImageClassification") ||
                             name.ends_with("ForImageClassificationWithTeacher");
        c.read("use_mean_pooling");
        add(norm_of(l.tokens, "last_norm", l.hidden, 2 * l.hidden)); // of BEiT the pooler's
        if (type_.starts_with("siglip") && c.flag("vision_use_head", true)) {
            const Count h = l.hidden;
            add(values_of("pooling_probe", h));
            built_.blocks.add(
                {{"pooling_key_value",
                  fmt::format("op: gemm, m: \"={}\", n: {}, k: {}, parameters: {}", l.tokens.all,
                              2 * h, h, 3 * h * (h + 1)),
                  {}},
                 {"pooling_output",
                  fmt::format("op: gemm, m: =batch, n: {0}, k: {0}, bias: 1", h),
                  {}},
                 {"pooling_norm",
                  fmt::format("op: layernorm, rows: =batch, cols: {0}, parameters: \"=2*{0}\"", h),
                  {}},
                 {"pooling_up",
                  fmt::format("op: gemm, m: =batch, n: {}, k: {}, bias: 1", l.inner, h),
                  {}},
                 {"pooling_down",
                  fmt::format("op: gemm, m: =batch, n: {}, k: {}, bias: 1", h, l.inner),
                  {}}});
        }
        if (classes) {
            classifier(one_of({"dinov2", "dinov2_with_registers"}) ? 2 * l.hidden : l.hidden);
            if (name.ends_with("WithTeacher")) {
                classifier(l.hidden);
            }
        } else if (one_of({"vit", "deit"}) && !name.empty() && name.ends_with("Model")) {
            pooler(l.hidden);
        }
    }

    void text_of_pair(Config& c, const std::string& outer) {
        const bool siglip = type_.starts_with("siglip");
        EncoderLayer l;
        l.hidden = c.count_or({"hidden_size"}, siglip ? 768 : 512);
        l.heads = l.kv = std::max<Count>(c.count_or({"num_attention_heads"}, siglip ? 12 : 8), 1);
        l.size = std::max<Count>(l.hidden / l.heads, 1);
        l.inner = c.count_or({"intermediate_size"}, siglip ? 3072 : 2048);
        const Count most = c.count_or({"max_position_embeddings"}, siglip ? 64 : 77);
        if (outer.empty()) {
            parameters(
                fmt::format("seq: {{default: {}, min: 1, meaning: \"tokens of a text\"}}", most));
            built_.names = "words: =batch*seq, new: =seq, seen: =seq";
        }
        add(embedding_of(l.tokens, "embedding", l.hidden,
                         c.count_or({"vocab_size"}, siglip ? 32000 : 49408)));
        add(embedding_of(l.tokens, "positions", l.hidden, most));
        built_.blocks.add(encoder_layer(l), c.count_or({"num_hidden_layers"}, 12));
        add(norm_of(l.tokens, "last_norm", l.hidden, 2 * l.hidden));
        const Count out = c.count_or({"projection_size", "projection_dim"}, l.hidden);
        if (siglip) {
            add({"text_head",
                 fmt::format("op: gemm, m: =batch, n: {}, k: {}, bias: 1", out, l.hidden),
                 {}});
        } else if (architecture_of(c).ends_with("WithProjection")) {
            add({"text_head", fmt::format("op: gemm, m: =batch, n: {}, k: {}", out, l.hidden), {}});
        }
    }

    void pair() {
        Config text = c_.inner("text_config");
        Config vision = c_.inner("vision_config");
        const bool clip = is("clip");
        const std::string name = architecture_of(c_);
        const bool alone = name.ends_with("ForImageClassification");
        const Count side = vision.count_or({"image_size"}, 224);
        const Count patch = std::max<Count>(vision.count_or({"patch_size"}, clip ? 32 : 16), 1);
        built_.parameters =
            fmt::format("  seq: {{default: {}, min: 1, meaning: \"tokens of a text\"}}\n"
                        "  image: {{default: {}, min: {}, meaning: \"height and width\"}}\n"
                        "  batch: {{default: 1, min: 1, meaning: \"pairs\"}}\n",
                        text.count_or({"max_position_embeddings"}, clip ? 77 : 64), side, patch);
        built_.names = fmt::format(
            "words: =batch*seq, new: =seq, seen: =seq, patches: \"=(image/{0})*(image/{0})+{1}\", "
            "image_words: =batch*patches",
            patch, clip ? 1 : 0);
        if (!alone) {
            text_of_pair(text, "pair");
        }
        pair_image(vision, clip);
        if (alone) {
            classifier(vision.count_or({"hidden_size"}, 768));
        } else if (clip) {
            const Count out = c_.count_or({"projection_dim"}, 512);
            add({"text_projection",
                 fmt::format("op: gemm, m: =batch, n: {}, k: {}", out,
                             text.count_or({"hidden_size"}, 512)),
                 {}});
            add({"image_projection",
                 fmt::format("op: gemm, m: =batch, n: {}, k: {}", out,
                             vision.count_or({"hidden_size"}, 768)),
                 {}});
        }
        if (!alone) {
            const Count out =
                clip ? c_.count_or({"projection_dim"}, 512) : vision.count_or({"hidden_size"}, 768);
            add({"similarity",
                 fmt::format("op: bmm, batch: 1, m: =batch, n: =batch, k: {}, parameters: {}", out,
                             clip ? 1 : 2),
                 {}});
        }
        for (Config* part : {&text, &vision}) {
            part->tell_unread();
        }
        for (const char* read :
             {"text_config", "vision_config", "text_config_dict", "vision_config_dict",
              "logit_scale_init_value", "initializer_factor"}) {
            c_.read(read);
        }
    }

    void pair_image(Config& vision, bool clip) {
        const std::string_view whole = type_;
        type_ = clip ? "clip_vision_model" : "siglip_vision_model";
        image(vision, "pair");
        type_ = whole;
    }
};

} // namespace

BuiltEncoder build_image_encoder(Config& config, std::string_view type) {
    ImageEncoder encoder(config, type);
    encoder.run();
    return encoder.take();
}

} // namespace eyeroof::formats::hf
