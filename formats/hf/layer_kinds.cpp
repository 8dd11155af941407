#include "formats/hf/layer_kinds.hpp"

#include <fmt/format.h>

#include <array>

namespace eyeroof::formats::hf {

namespace {

constexpr auto kKinds = std::to_array<std::string_view>(
    {"full_attention", "attention", "sliding_attention", "chunked_attention", "linear_attention",
     "indexed_attention", "deepseek_sparse_attention", "compressed_sparse_attention",
     "heavily_compressed_attention", "minimax_m3_sparse", "mamba", "conv", "moe", "mlp"});

} // namespace

std::vector<std::string> layer_kinds(Config& config, std::string_view type) {
    for (const char* name : {"layer_types", "layers_block_type"}) {
        if (auto kinds = config.words(name, kKinds); !kinds.empty()) {
            return kinds;
        }
    }
    std::vector<std::string> kinds;
    if (type == "nemotron_h") { // before version 5: M Mamba, * attention, - feed-forward, E experts
        for (const char letter : config.word("hybrid_override_pattern")) {
            if (std::string_view("M*E-").find(letter) == std::string_view::npos) {
                config.refuse("hybrid_override_pattern",
                              fmt::format("'{}' is no kind of layer", letter),
                              "M: Mamba, *: attention, -: feed-forward, E: experts");
                return {};
            }
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
