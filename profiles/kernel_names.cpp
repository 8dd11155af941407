#include "profiles/kernel_names.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <string>

namespace eyeroof::profiles {

namespace {

struct NamePart {
    std::string_view part;
    KernelCategory category;
};
// The first part found in the lower-case name decides; the more telling come first.
constexpr NamePart kNameParts[] = {
    {"soft_max", KernelCategory::softmax},
    {"nchwtonhwc", KernelCategory::copy}, // before "cudnn"
    {"nhwctonchw", KernelCategory::copy},
    {"igemm_fwd_gtc", KernelCategory::conv}, // MIOpen's convolutions as GEMMs
    {"igemm_bwd_gtc", KernelCategory::conv},
    {"igemm_wrw_gtc", KernelCategory::conv},
    {"miopensp3asmconv", KernelCategory::conv},
    {"doactivation", KernelCategory::elementwise}, // of the namespace cutlass_kernels
    {"expandinputrows", KernelCategory::experts},
    {"softmax", KernelCategory::softmax},
    {"layer_norm", KernelCategory::normalization},
    {"layernorm", KernelCategory::normalization},
    {"batch_norm", KernelCategory::normalization},
    {"group_norm", KernelCategory::normalization},
    {"bn_fw", KernelCategory::normalization},
    {"bn_bw", KernelCategory::normalization},
    {"rms_norm", KernelCategory::normalization},
    {"rmsnorm", KernelCategory::normalization},
    {"l2norm", KernelCategory::normalization},
    {"fbgemm_gpu", KernelCategory::unknown}, // a namespace of embeddings
    {"winograd", KernelCategory::conv},
    {"implicit_gemm", KernelCategory::conv},
    {"fprop", KernelCategory::conv},
    {"dgrad", KernelCategory::conv},
    {"wgrad", KernelCategory::conv},
    {"conv", KernelCategory::conv},
    {"cudnn", KernelCategory::conv},
    {"gemm", KernelCategory::gemm},
    {"gemv", KernelCategory::gemm},
    {"cublas", KernelCategory::gemm},
    {"cutlass", KernelCategory::gemm},
    {"xmma", KernelCategory::gemm},
    {"nvjet", KernelCategory::gemm},
    {"matmul", KernelCategory::gemm},
    {"splitkreduce", KernelCategory::gemm},
    {"marlin", KernelCategory::gemm},
    {"machete", KernelCategory::gemm},
    {"cijk_", KernelCategory::gemm},
    {"scaled_mm", KernelCategory::gemm},
    {"_mm_", KernelCategory::gemm},
    {"bmm_", KernelCategory::gemm},     // TensorRT-LLM's generated kernels
    {"mul_mat", KernelCategory::gemm},  // llama.cpp
    {"wvsplitk", KernelCategory::gemm}, // vLLM on ROCm, few rows
    {"rope", KernelCategory::rope},
    {"rotary", KernelCategory::rope},
    {"sampling", KernelCategory::sampling},
    {"argmax", KernelCategory::sampling},
    {"top_p", KernelCategory::sampling},
    {"topp", KernelCategory::sampling},
    {"store_cache", KernelCategory::copy},
    {"and_mul", KernelCategory::elementwise},
    {"act_mul", KernelCategory::elementwise},
    {"swiglu", KernelCategory::elementwise},
    {"silu", KernelCategory::elementwise},
    {"gelu", KernelCategory::elementwise},
    {"quant", KernelCategory::quantization},
    {"_to_fp4", KernelCategory::quantization},
    {"_to_fp8", KernelCategory::quantization},
    {"scaled_fp8", KernelCategory::quantization},
    {"per_token_group", KernelCategory::quantization},
    {"pool", KernelCategory::pooling},
    {"reduce", KernelCategory::reduction},
    {"elementwise", KernelCategory::elementwise},
    {"memcpy", KernelCategory::copy},
    {"memset", KernelCategory::copy},
    {"copy", KernelCategory::copy},
    {"transpose", KernelCategory::copy},
    {"cpy_", KernelCategory::copy},
    {"multi_tensor_apply", KernelCategory::elementwise},
    {"index_kernel", KernelCategory::copy},
    {"indexselect", KernelCategory::copy},
    {"dot_kernel", KernelCategory::reduction},
};

constexpr std::string_view kAttentionParts[] = {"flash",
                                                "fmha",
                                                "attention",
                                                "sdpa",
                                                "attn_fwd", // Triton's
                                                "attn_bwd",
                                                "batchdecodewith",
                                                "batchprefillwith",
                                                "paged_kv",
                                                "mqa_logits",
                                                "pa_decode",
                                                "mla_dec",
                                                "mla_pfl",
                                                "_fwd_kernel_stage",
                                                "_fwd_grouped_kernel_stage"};

// Of attention's caches and tables, whatever else the name says: keys and values are stored.
constexpr std::string_view kCacheParts[] = {"and_cache", "store_kv", "appendpagedkv",
                                            "append_paged_kv", "kv_indices"};

// Of mixtures of experts: routers, permutations, grouped GEMMs.
constexpr std::string_view kExpertParts[] = {
    "moe",          "expert",       "topkgating",        "topk_gating",
    "grouped_topk", "grouped_gemm", "groupproblemshape", "m_grouped",
    "topk_softmax", "routing"};

struct CommunicationPart {
    std::string_view part, kind;
};
constexpr CommunicationPart kCommunication[] = {
    {"record_param_comms", "collective"},
    {"c10d::", "collective"},
    {"nccl", "NCCL"},
    {"rccl", "RCCL"},
    {"nvshmem", "NVSHMEM"},
    {"rocshmem", "rocSHMEM"},
    {"mori::", "MoRI"},
    {"epdispatch", "expert parallelism"},
    {"epcombine", "expert parallelism"},
    {"deep_ep::", "DeepEP"},
    {"hybrid_ep::", "DeepEP"},
    {"internode", "DeepEP"},
    {"intranode", "DeepEP"},
    {"pplx::", "pplx"},
    {"uccl::", "UCCL"},
    {"moea2a", "expert parallelism"},
    {"moe_a2a", "expert parallelism"},
    {"moe_comm", "expert parallelism"},
    {"mscclpp", "MSCCL++"},
    {"cross_device_", "custom all-reduce"},
    {"quickreduce", "custom all-reduce"},
    {"allreduce", "custom all-reduce"},
    {"all_reduce", "custom all-reduce"},
    {"symm_mem", "symmetric memory"},
    {"multimem", "symmetric memory"},
    {"userbuffers", "Transformer Engine"},
    {"dispatch_token", "Triton-distributed"},
    {"combine_token", "Triton-distributed"},
    {"token_dispatch", "Triton-distributed"},
    {"token_combine", "Triton-distributed"},
    {"local_dispatch_int", "Triton-distributed"},
    {"local_combine_int", "Triton-distributed"},
    {"barrier_all", "Triton-distributed"},
    {"ring_reduce", "Triton-distributed"},
    {"all_gather", "collective"},
    {"allgather", "collective"},
    {"all2all", "collective"},
    {"all_to_all", "collective"},
    {"alltoall", "collective"},
    {"reduce_scatter", "collective"},
    {"reducescatter", "collective"},
    {"sendrecv", "collective"},
    {"p2p_", "collective"},
};

// In lower case, without the namespaces of libraries whose names are words of other kernels.
std::string plain_name(std::string_view kernel_name) {
    std::string lower = lowered(kernel_name);
    for (const std::string_view space : {"flashinfer::", "vllm::moe::", "deep_gemm::"}) {
        for (std::size_t at = lower.find(space); at != std::string::npos; at = lower.find(space)) {
            lower.replace(at, space.size(), space == "vllm::moe::" ? "moe_" : "");
        }
    }
    return lower;
}

bool says_any(std::string_view name, std::span<const std::string_view> parts) {
    return std::ranges::any_of(
        parts, [&](std::string_view part) { return name.find(part) != std::string_view::npos; });
}

} // namespace

std::string_view communication_of(std::string_view name) {
    const std::string lower = lowered(name);
    constexpr std::string_view kComputes[] = {"gemm", "matmul", "get_dispatch_layout"};
    for (const CommunicationPart& entry : kCommunication) {
        if (lower.find(entry.part) != std::string::npos) {
            const bool collective = entry.kind == "NCCL" || entry.kind == "RCCL" ||
                                    lower == entry.part || lower.starts_with("c10d::");
            return !collective && says_any(lower, kComputes) ? std::string_view() : entry.kind;
        }
    }
    return {};
}

namespace {

// "triton_poi_fused_add_0", "triton_red_…", "triton_per_…", "triton_tem_…" of PyTorch's compiler,
// whose names list the operators that were fused.
KernelCategory generated_category(std::string_view lower) {
    const auto says = [&](const char* part) { return lower.find(part) != std::string_view::npos; };
    return lower.starts_with("triton_poi") ? KernelCategory::elementwise
           : lower.starts_with("triton_tem")
               ? says("attention") ? KernelCategory::attention : KernelCategory::gemm
           : !lower.starts_with("triton_red") && !lower.starts_with("triton_per")
               ? KernelCategory::unknown
           : says("softmax") ? KernelCategory::softmax
           : says("norm")    ? KernelCategory::normalization
                             : KernelCategory::reduction;
}

} // namespace

KernelCategory category_of(std::string_view kernel_name) {
    const std::string lower = plain_name(kernel_name);
    if (const KernelCategory generated = generated_category(lower);
        generated != KernelCategory::unknown) {
        return generated;
    }
    if (!communication_of(kernel_name).empty()) {
        return KernelCategory::communication;
    }
    if (says_any(lower, kCacheParts)) {
        return KernelCategory::copy;
    }
    if (lower == "_fwd_kernel" || says_any(lower, kAttentionParts)) {
        return KernelCategory::attention;
    }
    if (says_any(lower, kExpertParts)) {
        return KernelCategory::experts;
    }
    for (const NamePart& entry : kNameParts) {
        if (lower.find(entry.part) != std::string::npos) {
            return entry.category;
        }
    }
    return KernelCategory::unknown;
}

const char* category_name(KernelCategory category) {
    constexpr const char* kNames[] = {"unknown",      "gemm",      "conv",          "attention",
                                      "elementwise",  "reduction", "normalization", "softmax",
                                      "pooling",      "copy",      "communication", "experts",
                                      "quantization", "rope",      "sampling"};
    return kNames[static_cast<std::size_t>(category)];
}

std::optional<KernelTile> tile_of(std::string_view name) {
    const auto number = [&](std::size_t& at) {
        std::int64_t value = 0;
        const auto [end, error] =
            std::from_chars(name.data() + at, name.data() + name.size(), value);
        const auto digits = static_cast<std::size_t>(end - (name.data() + at));
        at += error == std::errc{} ? digits : 0;
        return error == std::errc{} && value >= 8 && value <= 1024 && value % 8 == 0 ? value : 0;
    };
    const auto digit = [&](std::size_t at) {
        return at < name.size() && name[at] >= '0' && name[at] <= '9';
    };
    for (std::size_t at = 0; at < name.size(); ++at) {
        if (!digit(at) || (at > 0 && digit(at - 1))) {
            continue;
        }
        std::size_t end = at;
        KernelTile tile;
        tile.rows = number(end);
        if (tile.rows == 0 || end + 1 >= name.size() || name[end] != 'x' || !digit(end + 1)) {
            continue;
        }
        ++end;
        tile.columns = number(end);
        if (tile.columns == 0 || std::max(tile.rows, tile.columns) < 32) {
            continue;
        }
        const bool more = end + 1 < name.size() && (name[end] == 'x' || name[end] == '_');
        if (more && digit(end + 1)) {
            ++end;
            tile.depth = number(end);
        }
        return tile;
    }
    return std::nullopt;
}

std::optional<model::Direction> gradient_of(std::string_view kernel_name) {
    const std::string lower = lowered(kernel_name);
    const auto says = [&](const char* part) { return lower.find(part) != std::string::npos; };
    if (says("wgrad") || says("backward_filter") || says("bwd_filter")) {
        return model::Direction::bwd_weight;
    }
    if (says("dgrad") || says("backward_data") || says("bwd_data")) {
        return model::Direction::bwd_data;
    }
    return std::nullopt;
}

bool changes_layout(std::string_view kernel_name) {
    const std::string lower = lowered(kernel_name);
    const auto says = [&](const char* part) { return lower.find(part) != std::string::npos; };
    return says("nchwtonhwc") || says("nhwctonchw") || says("batched_transpose");
}

} // namespace eyeroof::profiles
