// Modules of a model by name, as configurations list them: "lm_head", "model.layers.0.mlp",
// "*.self_attn.*", "re:.*mlp\.(gate|up)_proj$".
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
}

namespace eyeroof::formats::hf {

class ModuleNames {
  public:
    // Why the name is not taken; empty where it is.
    std::string add(std::string_view name);

    // Whether the module, "layers.3.mlp.gate_proj", or one that it is a part of is listed.
    bool lists(std::string_view path) const;
    // Whether a module beside it is ("layers.3.self_attn.qkv_proj" for its q_proj).
    bool lists_beside(std::string_view path) const;

  private:
    std::set<std::string, std::less<>> plain_;
    std::vector<std::shared_ptr<const re2::RE2>> patterns_;
};

} // namespace eyeroof::formats::hf
