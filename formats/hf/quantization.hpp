// Which products of a model have other types than its weights were trained in: the
// quantization_config of a config.json.
#pragma once

#include "formats/hf/config.hpp"

#include <string>
#include <vector>

namespace eyeroof::formats::hf {

class Quantization {
  public:
    // `wide`: the type of activations and of what is not quantized. An unknown method is an error.
    Quantization(Config& config, std::string wide);

    // "fp8/fp8/bf16" of a product of layer `layer` in the module ("self_attn.q_proj",
    // "mlp.experts"); empty where it keeps the wide type.
    std::string types_of(Count layer, const std::string& module) const;

  private:
    std::string types_;
    bool experts_alone_ = false;
    std::vector<std::string> left_out_;
};

} // namespace eyeroof::formats::hf
