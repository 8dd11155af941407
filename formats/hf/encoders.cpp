#include "formats/hf/encoders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace eyeroof::formats::hf {

namespace {

constexpr auto kTypes = std::to_array<std::string_view>({"bert", "t5", "vit", "whisper"});

// A size that the network derives of others.
void only(Config& c, const char* key, Count value, Count needed) {
    if (value != needed) {
        c.refuse(key, fmt::format("{} is not read, {} is", value, needed),
                 "export the model as ONNX, or use er.from_torch");
    }
}

double size(Config& c, Config::Names names) {
    return static_cast<double>(c.need(names));
}

Variables bert(Config& c) {
    const Count hidden = c.need({"hidden_size"});
    only(c, "intermediate_size", c.count_or({"intermediate_size"}, 4 * hidden), 4 * hidden);
    only(c, "max_position_embeddings", c.count_or({"max_position_embeddings"}, 512), 512);
    only(c, "type_vocab_size", c.count_or({"type_vocab_size"}, 2), 2);
    return {{"layers", size(c, {"num_hidden_layers"})},
            {"hidden", static_cast<double>(hidden)},
            {"heads", size(c, {"num_attention_heads"})},
            {"vocabulary", size(c, {"vocab_size"})}};
}

Variables t5(Config& c) {
    const Count layers = c.need({"num_layers"});
    only(c, "num_decoder_layers", c.count_or({"num_decoder_layers"}, layers), layers);
    if (const std::string kind = c.word("feed_forward_proj", "relu"); kind != "relu") {
        c.refuse("feed_forward_proj", fmt::format("'{}' is not read, relu is", kind.substr(0, 40)),
                 "export the model as ONNX, or use er.from_torch");
    }
    return {{"layers", static_cast<double>(layers)},
            {"hidden", size(c, {"d_model"})},
            {"heads", size(c, {"num_heads"})},
            {"size", size(c, {"d_kv"})},
            {"inner", size(c, {"d_ff"})},
            {"vocabulary", size(c, {"vocab_size"})}};
}

Variables vit(Config& c) {
    const Count hidden = c.need({"hidden_size"});
    only(c, "intermediate_size", c.count_or({"intermediate_size"}, 4 * hidden), 4 * hidden);
    return {{"image", size(c, {"image_size"})},
            {"patch", size(c, {"patch_size"})},
            {"layers", size(c, {"num_hidden_layers"})},
            {"hidden", static_cast<double>(hidden)},
            {"heads", size(c, {"num_attention_heads"})}};
}

Variables whisper(Config& c) {
    const Count hidden = c.need({"d_model"});
    const Count layers = c.need({"encoder_layers"});
    only(c, "encoder_ffn_dim", c.count_or({"encoder_ffn_dim"}, 4 * hidden), 4 * hidden);
    only(c, "decoder_ffn_dim", c.count_or({"decoder_ffn_dim"}, 4 * hidden), 4 * hidden);
    only(c, "decoder_layers", c.count_or({"decoder_layers"}, layers), layers);
    return {{"layers", static_cast<double>(layers)},
            {"hidden", static_cast<double>(hidden)},
            {"heads", size(c, {"encoder_attention_heads"})},
            {"mels", size(c, {"num_mel_bins"})},
            {"vocabulary", size(c, {"vocab_size"})}};
}

} // namespace

bool is_encoder(std::string_view type) {
    return std::ranges::find(kTypes, type) != kTypes.end();
}

std::span<const std::string_view> encoder_types() {
    return kTypes;
}

HfNetwork encoder_of(Config& config, std::string_view type) {
    return {{},
            std::string(type),
            type == "bert"  ? bert(config)
            : type == "t5"  ? t5(config)
            : type == "vit" ? vit(config)
                            : whisper(config)};
}

} // namespace eyeroof::formats::hf
