// What a kernel's time depends on beside its shape, type, and GPU: the library that has it, and the
// layout of tensors. Not how it is launched: model/gpu/step.hpp.
// Read by the GPU time model; made by scenarios and from the `library` column of measured rows.
#pragma once

#include "model/gpu/serving_library.hpp"
#include "model/workload/layer.hpp"

#include <compare>
#include <optional>
#include <string_view>

namespace eyeroof::model {

// Generations of the vendors' libraries of GEMMs and convolutions: which kernels they offer.
enum class Library {
    current, // cuBLAS 11, 12 and their contemporaries
    until_10 // cuBLAS up to 10, cuDNN up to 7
};

// How a GEMM of 8-bit operands gets them from 16-bit activations: a property of the framework.
enum class ByteCast {
    // Unknown: fp8 as `kernels` (of all ways the one that is least off where no row names its
    // library: docs/dev/gpu-history.md), with an interval that holds `fused` too.
    usual,
    kernels, // in kernels of its own: one finds the scale, one applies it
    slow,    // the same, one element at a time: bound by SM cycles
    fused,   // in one short kernel, or scales are given
    given    // operands are quantized already: by the kernel before, or once for several products
};

// What a library's attention kernels make of heads that share keys (grouped queries) in a prompt.
enum class HeadPacking {
    usual, // unknown: as `packed`, the likeliest, with an interval that holds both
    apart, // every head has tiles of its own, however few its queries are
    packed // queries of heads that share keys fill a tile together
};

// Whose attention kernels: serving frameworks' (a prompt, a cache), or those that train.
enum class AttentionKernel {
    serving,
    training // cuDNN's; gradients always are
};

// Whose kernels multiply the tokens of experts.
enum class ExpertKernel {
    usual,
    flashinfer // CUTLASS kernels of FlashInfer for fp8 with one scale per tensor: vLLM's on Hopper
};

// How a library normalizes rows.
enum class NormKernel {
    usual,  // unknown: `vector` on Blackwell, whose libraries are of 2024 and later, else `scalar`
    scalar, // one element per load, one division per element, rows read twice: until 2023
    vector, // 16 bytes per load, rows read twice; gradients as `scalar`: PyTorch since 2.8
    compiled, // 16 bytes per load, rows kept in registers; gradients as `scalar`: Inductor
    fused     // 16 bytes per load, rows kept in registers, gradients too: cuDNN
};

// Order of a convolution's tensors in memory: [n, h, w, c] or [n, c, h, w].
enum class Layout { channels_last, channels_first };
std::string_view layout_name(Layout layout); // "channels-last"
std::optional<Layout> layout_from_name(std::string_view name);

struct Software {
    Library library = Library::current;
    Layout layout = Layout::channels_last;
    // Kernels that change the layout around a convolution are operators of their own, so the
    // convolution's time does not contain them.
    bool layout_passes_apart = false;
    ByteCast cast = ByteCast::usual;
    HeadPacking heads = HeadPacking::usual;
    AttentionKernel attention = AttentionKernel::serving;
    ExpertKernel experts = ExpertKernel::usual;
    NormKernel norm = NormKernel::usual;
    // Its kernels have constants of their own where they were measured; empty: the classes' alone.
    ServingLibrary serving = {};

    auto operator<=>(const Software&) const = default;
};

// By the version after "cublas" or "cudnn", up to 10 and 7 are `until_10`; nothing where there is
// none.
std::optional<Library> library_from_name(std::string_view name);

// What the name of a library or framework says about its kernels, letter case ignored; names that
// say nothing leave the defaults.
//   Library: see library_from_name.
//   ByteCast: "quantized" operands need none; block scales ("fp8_block") take one kernel; vLLM
//   converts in one kernel since 0.15, earlier versions, and SGLang's int8 per token, one element
//   at a time (2.0, 2.5 and 4.5 SM cycles per element on GB200 and H100, against 0.1 of
//   TensorRT-LLM's int8); TensorRT-LLM's per-tensor fp8 scales take kernels of their own, its int8
//   scales are given. Source: GEMMs of few rows in ai-dynamo/aiconfigurator@095f58a51 (4 to 8 us
//   against 12 to 24). HeadPacking: TensorRT-LLM's prompts have tiles per head; FlashAttention,
//   which vLLM, SGLang and FlashInfer run, packs heads that share keys. Source: the same; prompts
//   of 64 tokens, 16 sequences, 64 heads with 2 key heads take an H100 59 us apart and 36 packed.
//   AttentionKernel: cuDNN trains. ExpertKernel: vLLM's fp8 without block scales. Source: kernel
//   names in the same. NormKernel: cuDNN keeps rows, Inductor ("torch_compile") in forward passes;
//   PyTorch is vectorized since 2.8 (or without a version). Source: NVIDIA/cudnn-frontend@3929da2,
//   one GPU (GB200) in three libraries.
Software software_from_name(std::string_view name, DataType type);

} // namespace eyeroof::model
