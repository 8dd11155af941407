// A call of one kernel of a serving library (TensorRT-LLM, vLLM, SGLang, aiter), as tables of
// measurements describe it, and what it has to compute, move, and start.
// Made from rows of tables and from layers; read by library_cells.hpp.
#pragma once

#include "model/gpu/gpu.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// Sizes of a call, by the columns of a table; 0: the call has none such.
enum class CallSize {
    b,
    m,
    n,
    k, // products
    batch,
    q_len,
    kv_len,
    heads,
    kv_heads,
    head_dim,
    window,
    causal, // attention
    tokens,
    hidden,
    inter,
    topk,
    experts,
    tp,
    ep, // experts
    k_heads,
    k_dim,
    v_heads,
    v_dim,
    state,
    rows,
    cols,
    streams,
    sites,
    gpus,
    nodes
};
inline constexpr std::size_t kCallSizes = 30;
std::string_view call_size_name(CallSize size);

// What a call's time is made of decides its parts; the operator's name decides the kind.
enum class LibraryKind {
    product,   // gemm, bmm
    attention, // attention_context, attention_generation, attention_encoder
    latent,    // mla_context, mla_generation: the kernel alone
    experts,   // moe and wide expert parallelism
    block,     // a whole block of latent, sparse, or compressed attention
    recurrent, // gated delta rule, KDA, Mamba-2: one kernel
    streams,   // hyper-connections before and after a block
    cast,      // 16 bits to fp8
    exchange   // dispatch and combine of experts' tokens
};
// `network`: of a whole block; "mla_context" without one is the kernel alone.
std::optional<LibraryKind> library_kind(std::string_view op, std::string_view network = {});
inline constexpr std::size_t kLibraryKinds = 9;
std::string_view library_kind_name(LibraryKind kind); // "product", "attention", …

struct LibraryCall {
    std::string op;      // "gemm", "attention_context", "dsa_generation", …
    std::string type;    // "bf16", "fp8_block", or several: "bf16/fp8" with the cache's
    std::string network; // of blocks, whose sizes are the network's
    std::string library, version, kernel;
    std::string distribution; // of tokens over experts: "balanced", "power_law_1.2"
    bool eager = false;       // timed from a framework's calls, without a graph
    std::array<double, kCallSizes> sizes{};

    double of(CallSize size) const { return sizes[static_cast<std::size_t>(size)]; }
    double& of(CallSize size) { return sizes[static_cast<std::size_t>(size)]; }
    bool operator==(const LibraryCall&) const = default;
};

// "bfloat16" is bf16, "float16" fp16; other names stay.
std::string call_type(std::string_view name);

// What a kernel with the data sheet's rates would take for its parts, seconds, and the axes along
// which its efficiency varies. `added` follow one another, `joined` overlap.
struct CallParts {
    std::vector<double> added, joined;
    std::vector<double> axes; // positive numbers, by call_axes
};
CallParts parts_of(const Gpu& gpu, const LibraryCall& call, LibraryKind kind);

// Places along each axis of a kind, log2, at which its efficiency is fitted.
struct CallAxis {
    std::string_view name;
    std::vector<double> knots;
};
const std::vector<CallAxis>& call_axes(LibraryKind kind);

} // namespace eyeroof::model
