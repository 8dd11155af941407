// Learned values of towers for images and sounds beside a language model. A text runs none of their
// products.
#pragma once

#include "formats/hf/config.hpp"

#include <string>

namespace eyeroof::formats::hf {

// An expression of how many values a tower and its projector have; empty where the tower is not
// known. `type`: of the whole model; `text_width`: hidden_size of its language model; `sound`:
// `tower` is of its audio_config.
std::string tower_parameters(Config& tower, Config& outer, const std::string& type,
                             Count text_width, bool sound);
// Whether a model of this type has a tower where its configuration has no vision_config.
bool has_usual_tower(const std::string& type);

} // namespace eyeroof::formats::hf
