// Networks of encoders of Hugging Face's transformers, from their configurations: of texts, of
// images, of both, and of a sequence that a decoder continues.
#pragma once

#include "formats/hf/blocks.hpp"
#include "formats/hf/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::hf {

// A network and what its YAML needs beside the layers: parameters (lines of that YAML) and the
// names that its expressions use.
struct BuiltEncoder {
    Blocks blocks;
    std::string parameters, names;
};

bool is_encoder(std::string_view type);
std::vector<std::string> encoder_types();

// `type`: one of encoder_types(). `architectures` of the configuration says which head it has; a
// missing one is the model without a head.
BuiltEncoder build_encoder(Config& config, std::string_view type);

} // namespace eyeroof::formats::hf
