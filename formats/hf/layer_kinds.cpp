#include "formats/hf/layer_kinds.hpp"

namespace eyeroof::formats::hf {

std::vector<std::string> layer_kinds(Config& config, std::string_view type) {
    for (const char* name : {"layer_types", "layers_block_type"}) {
        if (auto kinds = config.words(name); !kinds.empty()) {
            return kinds;
        }
    }
    std::vector<std::string> kinds;
    if (type == "nemotron_h") { // before version 5: M Mamba, * attention, - feed-forward, E experts
        for (const char letter : config.word("hybrid_override_pattern")) {
            kinds.emplace_back(letter == 'M'   ? "mamba"
                               : letter == '*' ? "full_attention"
                               : letter == 'E' ? "moe"
                                               : "mlp");
        }
        return kinds;
    }
    if (type == "deepseek_v4") { // tokens of a compressed key
        for (const Count rate : config.counts("compress_ratios")) {
            kinds.emplace_back(rate == 0   ? "sliding_attention"
                               : rate <= 4 ? "compressed_sparse_attention"
                                           : "heavily_compressed_attention");
        }
        return kinds;
    }
    if (type == "minimax_m3_vl_text") {
        Config sparse = config.inner("sparse_attention_config");
        for (const Count chosen : sparse.counts("sparse_attention_freq")) {
            kinds.emplace_back(chosen != 0 ? "minimax_m3_sparse" : "full_attention");
        }
        return kinds;
    }
    for (const Count near : config.counts("hybrid_layer_pattern")) { // of MiMo
        kinds.emplace_back(near != 0 ? "sliding_attention" : "full_attention");
    }
    return kinds;
}

} // namespace eyeroof::formats::hf
