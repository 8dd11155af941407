// Modules of a model by name, as configurations list them: "lm_head", "model.layers.0.mlp",
// "*.self_attn.*", "re:.*mlp\.(gate|up)_proj$".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::hf {

class ModuleNames {
  public:
    // False where the name is a regular expression of a kind that is not read.
    bool add(std::string_view name);

    // Whether the module, "layers.3.mlp.gate_proj", or one that it is a part of is listed.
    bool lists(std::string_view path) const;
    // The same, or one of the modules beside it ("layers.3.self_attn.qkv_proj" for its q_proj).
    bool lists_near(std::string_view path) const;

  private:
    // Characters at one place of a name, and how often: '1', '?', '*', '+'.
    struct Piece {
        std::string set;
        bool any = false, negated = false;
        char times = '1';
    };
    struct Pattern {
        std::vector<Piece> pieces;
        bool whole_parts = false; // begins and ends with parts of a name, as names without "re:"
        bool to_end = false;
    };

    bool add_expression(std::string_view text, int depth);
    static bool fits(const Pattern& pattern, std::string_view path);

    std::set<std::string, std::less<>> plain_;
    std::vector<Pattern> patterns_;
};

} // namespace eyeroof::formats::hf
