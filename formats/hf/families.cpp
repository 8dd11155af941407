#include "formats/hf/families.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::formats::hf {

namespace {

constexpr auto kFamilies = std::to_array<Family>({
    {"llama"},
    {"mistral"},
    {"ministral3"},
    {"mixtral"},
    {"arcee", false, NormKind::scale, 2, QkNorm::none, false},
    {"qwen2", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"qwen2_moe", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"mimo", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"qwen2_vl_text", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"qwen2_5_vl_text", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"qwen3", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_moe", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_vl_text", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_vl_moe_text", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_next", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_5_text", false, NormKind::scale, 2, QkNorm::head},
    {"qwen3_5_moe_text", false, NormKind::scale, 2, QkNorm::head},
    {"phi3"},
    {"phimoe", false, NormKind::scale_and_shift},
    {"phi", false, NormKind::scale_and_shift, 1, QkNorm::none, false, true},
    {"gemma", true},
    {"gemma2", true, NormKind::scale, 4},
    {"gemma3_text", true, NormKind::scale, 4, QkNorm::head},
    {"gemma3n_text", true, NormKind::scale, 4, QkNorm::head},
    {"gemma4_text", true, NormKind::scale, 4, QkNorm::head},
    {"glm", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"glm4", false, NormKind::scale, 4, QkNorm::none, true, true, false},
    {"glm4_moe", false, NormKind::scale, 2, QkNorm::none, true, false, false},
    {"glm4_moe_lite"},
    {"glm_moe_dsa"},
    {"deepseek_v2"},
    {"deepseek_v3"},
    {"deepseek_v32"},
    {"deepseek_v4"},
    {"kimi_k2"},
    {"dots1", false, NormKind::scale, 2, QkNorm::head},
    {"olmo", false, NormKind::none},
    {"olmo2", false, NormKind::scale, 2, QkNorm::all},
    {"olmo3", false, NormKind::scale, 2, QkNorm::all},
    {"olmoe", false, NormKind::scale, 2, QkNorm::all},
    {"flex_olmo", false, NormKind::scale, 2, QkNorm::all},
    {"cohere", true, NormKind::scale, 1},
    {"cohere2", true, NormKind::scale, 1},
    {"granite"},
    {"granitemoe"},
    {"granitemoeshared"},
    {"granitemoehybrid"},
    {"smollm3", true},
    {"ernie4_5", true},
    {"ernie4_5_moe", true},
    {"hunyuan_v1_dense", false, NormKind::scale, 2, QkNorm::head},
    {"hunyuan_v1_moe", false, NormKind::scale, 2, QkNorm::head},
    {"seed_oss", false, NormKind::scale, 2, QkNorm::none, true, true, false},
    {"exaone4", false, NormKind::scale, 2, QkNorm::head},
    {"apertus", false, NormKind::scale, 2, QkNorm::head, false},
    {"nemotron", false, NormKind::scale_and_shift, 2, QkNorm::none, false},
    {"starcoder2", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"stablelm", false, NormKind::scale_and_shift, 2, QkNorm::none, true, false, false},
    {"gpt_oss", false, NormKind::scale, 2, QkNorm::none, true, true},
    {"minimax"},
    {"minimax_m2", false, NormKind::scale, 2, QkNorm::all},
    {"llama4_text", false},
    {"mimo_v2_flash", false, NormKind::scale, 2, QkNorm::none, true, false, false},
    {"step3p7_text", false, NormKind::scale, 2, QkNorm::head},
    {"jamba", false},
    {"nemotron_h", false, NormKind::scale, 1},
    {"falcon_h1", false},
    {"lfm2", true, NormKind::scale, 2, QkNorm::head},
    {"lfm2_moe", true, NormKind::scale, 2, QkNorm::head},
    {"mamba2", true, NormKind::scale, 1},
    {"mamba", true, NormKind::scale, 1},
    {"opt", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"gpt2", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"gpt_neox", false, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"gptj", false, NormKind::scale_and_shift, 1, QkNorm::none, false, false},
    {"falcon", true, NormKind::scale_and_shift, 1, QkNorm::none, false, false},
    {"bloom", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"bamba"},
    {"bitnet"},
    {"vaultgemma", true},
    {"afmoe", false, NormKind::scale, 4, QkNorm::head},
    {"glm4v_text", false, NormKind::scale, 4, QkNorm::none, true, true, false},
    {"minimax_m3_vl_text", false, NormKind::scale, 2, QkNorm::head},
    {"gpt_neo", true, NormKind::scale_and_shift, 2, QkNorm::none, false},
    {"gpt_bigcode", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"codegen", false, NormKind::scale_and_shift, 1, QkNorm::none, false, false},
    {"biogpt", true, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"mpt", true, NormKind::scale, 2, QkNorm::none, false},
    {"persimmon", false, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"exaone"},
    {"helium"},
    {"internlm3"},
    {"ministral"},
    {"hyperclovax"},
    {"granite_swa", true},
    {"cohere2_moe", true, NormKind::scale, 1},
    {"hy_v3", false, NormKind::scale, 2, QkNorm::head},
    {"nanochat", false, NormKind::none, 2, QkNorm::plain_head, false},
    {"jais2", false, NormKind::scale_and_shift, 2, QkNorm::none, false, true},
    {"kimi_linear"},
    {"rwkv", false, NormKind::scale_and_shift},
});

} // namespace

const Family* family_of(std::string_view type) {
    const auto found = std::ranges::find(kFamilies, type, &Family::type);
    return found == kFamilies.end() ? nullptr : &*found;
}

std::vector<std::string> decoder_types() {
    std::vector<std::string> types;
    for (const Family& family : kFamilies) {
        types.emplace_back(family.type);
    }
    return types;
}

} // namespace eyeroof::formats::hf
