// The families of decoders of Hugging Face's transformers, and how their layers differ.
#pragma once

#include "formats/hf/parts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::hf {

// Learned values of a norm as wide as the model.
enum class NormKind { none, scale, scale_and_shift };

// How the layers of a family differ; what a configuration says is read beside it.
struct Family {
    std::string_view type;
    bool tied = false; // where tie_word_embeddings is not given
    NormKind norm = NormKind::scale;
    Count norms = 2; // of a layer
    QkNorm qk = QkNorm::none;
    bool gated = true;
    bool qkv_bias = false;    // where attention_bias is not given
    bool out_has_bias = true; // attention_bias is of the output, too
};

// By model_type; null where it is not known.
const Family* family_of(std::string_view type);

// All of them.
std::vector<std::string> decoder_types();

// Adds the sizes that a language model inside of another configuration leaves out: such a part is
// saved as what differs from its class's defaults. A file of its own is saved whole.
void fill_defaults(nlohmann::ordered_json& config, std::string_view type);

} // namespace eyeroof::formats::hf
