// Which products of a model have other types than its weights were trained in: the
// quantization_config of a config.json.
#pragma once

#include "formats/hf/config.hpp"
#include "formats/hf/module_names.hpp"

#include <map>
#include <string>
#include <vector>

namespace eyeroof::formats::hf {

class Quantization {
  public:
    // `wide`: the type of activations and of what is not quantized. Methods that are not known are
    // errors, and so are patterns of modules that are not understood.
    Quantization(Config& config, std::string wide);

    // "fp8/fp8/bf16" of a product of layer `layer` in the module ("self_attn.q_proj",
    // "mlp.experts.0.gate_proj"); empty where it keeps the wide type.
    std::string types_of(Count layer, const std::string& module) const;

  private:
    // Modules that have types of their own; without names, all that no other entry names.
    struct Group {
        ModuleNames modules;
        bool rest = false;
        std::string types;
    };

    using Named = std::map<std::string, std::vector<std::string>>; // modules by their types

    bool add(std::string types, Config& q, const char* key = "",
             const std::vector<std::string>& targets = {});
    bool add_all(const Named& named, Config& q, const char* key);
    bool take_method(Config& q, const std::string& method);
    bool take_groups(Config& q);
    bool take_layers(Config& q);
    bool take_overrides(Config& q);
    bool take_hqq(Config& q);
    bool take_quark(Config& q);
    void take_left_out(Config& q);

    std::string wide_;
    bool experts_alone_ = false;
    std::vector<Group> groups_;
    ModuleNames left_out_;
};

} // namespace eyeroof::formats::hf
