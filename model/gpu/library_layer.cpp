// A layer as the call that a serving library makes of it.
#include "model/gpu/attention.hpp"
#include "model/gpu/library_cells.hpp"

#include <algorithm>

namespace eyeroof::model {

namespace {

// Kernels of both 16-bit types run at the same rates.
std::string stored_type(DataType type) {
    return std::string(data_type_name(type == DataType::fp16 ? DataType::bf16 : type));
}

// "fp8_block" where the library's name says that scales belong to blocks; weights in fewer bits
// than the activations as TensorRT-LLM names them.
std::string product_type(const TensorTypes& types, bool blocks, const std::string& library) {
    if (types.weight != types.input) {
        return types.weight == DataType::int4   ? "int4_wo"
               : types.weight == DataType::int8 ? "int8_wo"
                                                : "";
    }
    if (types.input == DataType::int8) {
        return library == "aiter" ? "int8" : "int8_w8a8";
    }
    return types.input == DataType::fp8 && blocks ? "fp8_block" : stored_type(types.input);
}

std::string expert_type(const TensorTypes& types, bool blocks) {
    if (types.weight == types.input) {
        return types.input == DataType::fp8 && blocks ? "fp8_block" : stored_type(types.input);
    }
    const bool four = types.weight == DataType::mxfp4;
    return types.weight == DataType::int4                 ? "int4_wo"
           : four && bytes_per_element(types.input) == 2. ? "w4a16_mxfp4"
           : four && bytes_per_element(types.input) < 1.5 ? "w4a8_mxfp4_mxfp8"
                                                          : "";
}

// Tables have batched products of one size alone: before and after latent attention of a decoding
// step, with DeepSeek-V2's and V3's latent of 512. Others keep the constants of their class.
bool is_absorbed(const GemmShape& g) {
    constexpr Count kHead = 128, kLatent = 512;
    return (g.n == kLatent && g.k == kHead) || (g.n == kHead && g.k == kLatent);
}

// Of heads whose values have other sizes than their keys, tables have those sizes alone: a
// prompt's, and what all heads share in a cache. Others keep the constants of their class.
std::string attention_family(const AttentionShape& a) {
    constexpr Count kKey = 192, kValue = 128, kCachedKey = 576, kCachedValue = 512;
    const bool latent = (a.k == kKey && a.value_size() == kValue) ||
                        (a.k == kCachedKey && a.value_size() == kCachedValue);
    return latent ? "mla" : a.value_size() == a.k ? "attention" : "";
}

void set_sizes(LibraryCall& call, std::initializer_list<std::pair<CallSize, Count>> sizes) {
    for (const auto& [size, value] : sizes) {
        call.of(size) = static_cast<double>(value);
    }
}

} // namespace

std::optional<LibraryCall> call_of(const Layer& layer, const ServingLibrary& of) {
    if (of.name.empty() || layer.direction != Direction::fwd) {
        return std::nullopt;
    }
    LibraryCall call;
    call.library = of.name;
    call.version = of.version;
    call.kernel = of.kernel;
    if (const auto* g = std::get_if<GemmShape>(&layer.shape)) {
        const bool shared = layer.op == Op::gemm;
        if (!shared && !is_absorbed(*g)) {
            return std::nullopt;
        }
        call.op = shared ? "gemm" : "bmm";
        call.type = product_type(layer.types, of.blocks, of.name);
        set_sizes(call, {{CallSize::b, shared ? 1 : g->batch},
                         {CallSize::m, shared ? g->m * g->batch : g->m},
                         {CallSize::n, g->n},
                         {CallSize::k, g->k}});
    } else if (const auto* a = std::get_if<AttentionShape>(&layer.shape)) {
        const std::string family = attention_family(*a);
        if (family.empty()) {
            return std::nullopt;
        }
        const bool whole = !a->causal && !reads_cache(layer) && family == "attention";
        call.op = family + (reads_cache(layer) ? "_generation" : whole ? "_encoder" : "_context");
        call.type = stored_type(layer.types.input) + "/" + stored_type(layer.types.weight);
        set_sizes(call, {{CallSize::batch, a->batch},
                         {CallSize::q_len, a->m},
                         {CallSize::kv_len, a->n},
                         {CallSize::heads, a->groups},
                         {CallSize::kv_heads, a->key_heads()},
                         {CallSize::head_dim, a->k},
                         {CallSize::window, a->window},
                         {CallSize::causal, a->causal ? 1 : 0}});
    } else if (const auto* e = std::get_if<MoeShape>(&layer.shape)) {
        call.op = "moe";
        call.type = expert_type(layer.types, of.blocks);
        set_sizes(call, {{CallSize::tokens, e->m},
                         {CallSize::hidden, e->n},
                         {CallSize::inter, e->k},
                         {CallSize::topk, e->topk},
                         {CallSize::experts, e->experts},
                         {CallSize::tp, 1},
                         {CallSize::ep, 1}});
    } else {
        return std::nullopt;
    }
    return call.type.empty() ? std::nullopt : std::optional(std::move(call));
}

std::optional<LibraryTime> layer_time(const Gpu& gpu, const MachineKernels& kernels,
                                      const Layer& layer, const ServingLibrary& library) {
    const auto call = call_of(layer, library);
    auto time = call ? library_time(gpu, kernels, *call) : std::nullopt;
    if (!time || !time->exact) {
        return std::nullopt; // the analytic kernels say as much of a library without rows
    }
    const auto* g = std::get_if<GemmShape>(&layer.shape);
    if (g != nullptr && library.quantized && bytes_per_element(layer.types.input) < 1.5) {
        LibraryCall cast = *call;
        cast.op = "quantize";
        cast.type = "bf16_to_fp8";
        cast.kernel.clear();
        cast.of(CallSize::rows) = call->of(CallSize::m) * std::max(call->of(CallSize::b), 1.0);
        cast.of(CallSize::cols) = call->of(CallSize::k);
        const auto without = library_time(gpu, kernels, cast);
        constexpr double kLeast = 0.5; // of the time with the cast: the product itself
        const double share = without ? std::max(kLeast, 1.0 - without->time_s / time->time_s) : 1.0;
        time->time_s *= share;
        time->low_s *= share;
        time->high_s *= share;
        time->energy_j *= share;
    }
    return time;
}

} // namespace eyeroof::model
