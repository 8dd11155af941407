// Encoders, and encoders with a decoder, whose networks the catalog has: sizes for those.
#pragma once

#include "formats/hf/config.hpp"
#include "formats/hf/network.hpp"

#include <span>
#include <string_view>

namespace eyeroof::formats::hf {

bool is_encoder(std::string_view type);
std::span<const std::string_view> encoder_types();

// A size that the catalog's network cannot have is an error.
HfNetwork encoder_of(Config& config, std::string_view type);

} // namespace eyeroof::formats::hf
