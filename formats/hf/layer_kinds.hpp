// What kind each layer of a decoder is.
#pragma once

#include "formats/hf/config.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::hf {

// "full_attention", "sliding_attention", "linear_attention", "mamba", "mlp", and the like, by
// layer_types or by what earlier configurations of the family had in its place; empty where the
// configuration has neither.
std::vector<std::string> layer_kinds(Config& config, std::string_view type);

} // namespace eyeroof::formats::hf
