#include "formats/hf/encoders.hpp"

#include "formats/hf/encoder_parts.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace eyeroof::formats::hf {

namespace {

enum class Kind { text, image, sequence };

struct EncoderType {
    std::string_view type;
    Kind kind;
};
constexpr auto kTypes = std::to_array<EncoderType>({
    {"bert", Kind::text},
    {"roberta", Kind::text},
    {"xlm-roberta", Kind::text},
    {"camembert", Kind::text},
    {"distilbert", Kind::text},
    {"electra", Kind::text},
    {"albert", Kind::text},
    {"deberta", Kind::text},
    {"deberta-v2", Kind::text},
    {"mpnet", Kind::text},
    {"modernbert", Kind::text},
    {"clip_text_model", Kind::image},
    {"siglip_text_model", Kind::image},
    {"vit", Kind::image},
    {"deit", Kind::image},
    {"vit_msn", Kind::image},
    {"beit", Kind::image},
    {"data2vec-vision", Kind::image},
    {"dinov2", Kind::image},
    {"dinov2_with_registers", Kind::image},
    {"dinov3_vit", Kind::image},
    {"clip_vision_model", Kind::image},
    {"siglip_vision_model", Kind::image},
    {"clip", Kind::image},
    {"siglip", Kind::image},
    {"t5", Kind::sequence},
    {"mt5", Kind::sequence},
    {"umt5", Kind::sequence},
    {"bart", Kind::sequence},
    {"mbart", Kind::sequence},
    {"marian", Kind::sequence},
    {"pegasus", Kind::sequence},
    {"m2m_100", Kind::sequence},
    {"blenderbot", Kind::sequence},
    {"blenderbot-small", Kind::sequence},
    {"whisper", Kind::sequence},
});

} // namespace

// The class that a configuration names first, "BertForMaskedLM".
std::string architecture_of(Config& c) {
    const auto names = c.words("architectures");
    return names.empty() ? std::string() : names.front();
}

bool ends_with_any(const std::string& name, std::initializer_list<const char*> ends) {
    return std::ranges::any_of(ends, [&](const char* end) { return name.ends_with(end); });
}

Count classes_of(Config& c) {
    const Config::Json* labels = c.object("id2label");
    return labels != nullptr && !labels->empty() ? static_cast<Count>(labels->size())
                                                 : c.count_or({"num_labels"}, 2);
}

void EncoderParts::classifier(Count width) {
    const Count classes = classes_of(c_);
    add({"head", fmt::format("op: gemm, m: =batch, n: {}, k: {}, bias: 1", classes, width), {}});
}

void EncoderParts::pooler(Count hidden) {
    add({"pooler", fmt::format("op: gemm, m: =batch, n: {0}, k: {0}, bias: 1", hidden), {}});
}

bool is_encoder(std::string_view type) {
    return std::ranges::find(kTypes, type, &EncoderType::type) != kTypes.end();
}

std::vector<std::string> encoder_types() {
    std::vector<std::string> types;
    for (const EncoderType& one : kTypes) {
        types.emplace_back(one.type);
    }
    return types;
}

BuiltEncoder build_encoder(Config& config, std::string_view type) {
    config.read("tie_word_embeddings");
    const auto kind = std::ranges::find(kTypes, type, &EncoderType::type)->kind;
    return kind == Kind::text    ? build_text_encoder(config, type)
           : kind == Kind::image ? build_image_encoder(config, type)
                                 : build_sequence_encoder(config, type);
}

} // namespace eyeroof::formats::hf
