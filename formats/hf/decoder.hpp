// Networks of the decoder families of Hugging Face's transformers, from their configurations.
#pragma once

#include "formats/hf/blocks.hpp"
#include "formats/hf/config.hpp"

#include <string>

namespace eyeroof::formats::hf {

// What a network YAML needs beside its parameters.
struct Built {
    std::string title; // "LLaMA" and the like, for the network's name
    Blocks blocks;
    bool latent = false; // attention by a latent: has the parameter `absorbed`
};

// `type`: one of decoder_types(). `text`: of the language model; `outer`: the whole file's, which
// may be the same.
Built build_decoder(Config& text, Config& outer, const std::string& type, const std::string& wide);

} // namespace eyeroof::formats::hf
