#include "formats/trace_kernels.hpp"

#include "base/ascii.hpp"
#include "model/workload/elementwise.hpp"
#include "profiles/kernel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace eyeroof::formats {

namespace {

using profiles::KernelCategory;
using profiles::Operator;
using profiles::OperatorLayer;
using profiles::Profile;
using Launches = std::span<const std::size_t>;

bool any_of_category(const Profile& profile, Launches launches, KernelCategory category) {
    return std::ranges::any_of(launches, [&](std::size_t i) {
        return profiles::category_of(profile.kernel_of(profile.launches[i]).name) == category;
    });
}

bool has_gemm(const Profile& profile, Launches launches) {
    return std::ranges::any_of(launches, [&](std::size_t i) {
        const std::string name = lowered(profile.kernel_of(profile.launches[i]).name);
        const KernelCategory category = profiles::category_of(name);
        const bool grouped =
            category == KernelCategory::experts && name.find("gemm") != std::string::npos;
        return category == KernelCategory::gemm || grouped || name.starts_with("bmm_") ||
               name.find("_mm_") != std::string::npos;
    });
}

// Columns and rows of an output tile, and what a block of the grid does: "bmm_…_t128x16x256…" of
// TensorRT-LLM's batched GEMMs, whose grid is [columns / 128, tiles of 16 tokens].
struct TiledGemm {
    Count tile = 0, tokens = 0;
    Count blocks = 0, token_tiles = 0;
    bool gated = false; // computes both halves of a gated activation
};
std::optional<TiledGemm> tiled_gemm(const std::string& name, const profiles::Dim3& grid) {
    const std::size_t at = name.find("_t");
    if (!name.starts_with("bmm_") || at == std::string::npos) {
        return std::nullopt;
    }
    TiledGemm gemm;
    for (std::size_t from = at; from != std::string::npos; from = name.find("_t", from + 1)) {
        const char* const begin = name.data() + from + 2;
        const char* const end = name.data() + name.size();
        const auto [x, error] = std::from_chars(begin, end, gemm.tile);
        if (error == std::errc{} && x != end && *x == 'x' &&
            std::from_chars(x + 1, end, gemm.tokens).ec == std::errc{}) {
            break;
        }
    }
    gemm.blocks = grid.x;
    gemm.token_tiles = grid.y;
    gemm.gated = lowered(name).find("glu") != std::string::npos;
    const bool sane = gemm.tile > 0 && gemm.tokens > 0 && gemm.tile <= 4096 &&
                      gemm.tokens <= 4096 && gemm.blocks > 0 && gemm.token_tiles > 0 &&
                      gemm.blocks <= 1'000'000 && gemm.token_tiles <= 1'000'000;
    return sane ? std::optional(gemm) : std::nullopt;
}

// Operand types of "bmm_MxE4m3_MxE2m1MxE4m3…": output, weights, activations.
model::TensorTypes types_of(const std::string& name, model::DataType activations) {
    const bool four = name.find("E2m1") != std::string::npos;
    const bool blocks = name.find("MxE2m1") != std::string::npos;
    const bool eight = name.find("E4m3") != std::string::npos;
    const model::DataType weights = four ? blocks ? model::DataType::mxfp4 : model::DataType::nvfp4
                                    : eight ? model::DataType::fp8
                                            : activations;
    return {eight ? model::DataType::fp8 : activations, weights, activations};
}

// Experts, from the tokens and the router's scores that the operator takes and the grids of its
// GEMMs. The tiles of tokens are experts + (pairs - experts) / tile where every expert may begin a
// tile of its own; so the pairs of token and expert follow.
std::optional<FoundLayer> experts_of(const Profile& profile, const Operator& op,
                                     Launches launches) {
    const auto& dims = op.input_dims;
    const bool shaped = dims.size() >= 2 && dims[0].size() == 2 && dims[1].size() == 2 &&
                        dims[0][0] == dims[1][0] && dims[0][0] > 0 && dims[1][1] > 0 &&
                        dims[0][0] <= model::kMaxDimension && dims[1][1] <= model::kMaxDimension;
    if (!shaped) {
        return std::nullopt;
    }
    const auto type =
        op.input_types.empty() ? std::nullopt : profiles::data_type_of(op.input_types[0]);
    for (const std::size_t i : launches) {
        const std::string& name = profile.kernel_of(profile.launches[i]).name;
        const auto gemm = tiled_gemm(name, profile.launches[i].grid);
        if (!gemm || !gemm->gated) {
            continue;
        }
        const Count tokens = dims[0][0];
        const Count experts = dims[1][1];
        const Count pairs =
            std::max<Count>(gemm->token_tiles - experts, 0) * gemm->tokens + experts;
        FoundLayer made;
        model::MoeShape shape;
        shape.m = tokens;
        shape.n = dims[0][1];
        shape.k = gemm->blocks * gemm->tile / 2;
        shape.topk = std::clamp<Count>((pairs + tokens / 2) / tokens, 1, experts);
        shape.experts = experts;
        made.work.layer.op = model::Op::moe;
        made.work.layer.shape = shape;
        made.work.layer.types = types_of(name, type.value_or(model::DataType::bf16));
        made.found = Found::assumed;
        made.why = fmt::format("inner width {} and {} experts a token from the GEMM's grid",
                               shape.k, shape.topk);
        if (!model::validate(made.work.layer).has_errors()) {
            return made;
        }
    }
    return std::nullopt;
}

profiles::OperatorContext context_of(const Profile& profile, Launches launches) {
    profiles::OperatorContext context;
    context.ranks = profile.run.ranks;
    for (const std::size_t i : launches) {
        const auto type =
            profiles::type_in_kernel_name(profile.kernel_of(profile.launches[i]).name);
        if (type) {
            context.list_type = *type;
            break;
        }
    }
    return context;
}

// A product of fp32 operands whose kernel runs on tensor cores rounds them to tf32.
void set_tf32(const Profile& profile, Launches launches, model::Layer& layer) {
    if (!model::multiplies(layer.op) || layer.types.input != model::DataType::fp32) {
        return;
    }
    const bool tensor = std::ranges::any_of(launches, [&](std::size_t i) {
        const std::string name = lowered(profile.kernel_of(profile.launches[i]).name);
        const bool says = name.find("tf32") != std::string::npos ||
                          name.find("tensorop") != std::string::npos ||
                          name.find("1688") != std::string::npos;
        return says && name.find("simt") == std::string::npos;
    });
    if (tensor) {
        layer.types = {model::DataType::tf32, model::DataType::tf32, model::DataType::fp32};
    }
}

// PyTorch's loop over elements that are not neighbors (aten/src/ATen/native/cuda/CUDALoops.cuh):
// vectorized_elementwise_kernel and unrolled_elementwise_kernel serve the others. Where strides are
// not recorded, a copy is one of them by its kernel, too.
void set_strided(const Profile& profile, Launches launches, model::Layer& layer) {
    auto* shape = std::get_if<model::ElementwiseShape>(&layer.shape);
    const bool loops = shape != nullptr && std::ranges::any_of(launches, [&](std::size_t i) {
                           const std::string& name = profile.kernel_of(profile.launches[i]).name;
                           return name.find("native::elementwise_kernel") != std::string::npos;
                       });
    if (loops && shape->fn == "copy") {
        shape->fn = "permute";
    } else if (loops && !model::is_strided(shape->fn) && shape->fn != "cast") {
        shape->fn.insert(0, model::kStrided);
    }
}

std::string why_of(const Operator& op, const char* else_why) {
    return op.borrowed_from.empty() ? else_why
                                    : "its size is that of " + op.borrowed_from + " beside it";
}

std::optional<FoundLayer> custom(std::optional<OperatorLayer> work, const char* why) {
    return work ? std::optional(FoundLayer{*std::move(work), Found::assumed, why}) : std::nullopt;
}

// "gptq_marlin_gemm", "quantized::linear_dynamic", "my::conv_bias": it multiplies, whatever its
// kernels are called.
bool names_product(std::string_view op_name) {
    const std::string lower = lowered(op_name);
    const auto says = [&](const char* part) { return lower.find(part) != std::string::npos; };
    return (says("gemm") || says("matmul") || says("::linear") || says("_mm") ||
            lower.starts_with("mm") || says("addmm") || says("quantized::conv") || says("lstm")) &&
           !says("fbgemm::") && !says("norm");
}

bool reduces_between_ranks(const Profile& profile, Launches launches) {
    return std::ranges::any_of(launches, [&](std::size_t i) {
        return profiles::is_collective(profile.kernel_of(profile.launches[i]).name);
    });
}

} // namespace

bool may_multiply(const Profile& profile, Launches launches) {
    return has_gemm(profile, launches) ||
           any_of_category(profile, launches, KernelCategory::conv) ||
           any_of_category(profile, launches, KernelCategory::attention) ||
           std::ranges::any_of(launches, [&](std::size_t i) {
               return profile.kernel_of(profile.launches[i]).name.starts_with("triton_tem");
           });
}

std::optional<FoundLayer> layer_of_call(const Profile& profile, const Operator* op,
                                        Launches launches) {
    if (op == nullptr) {
        return std::nullopt;
    }
    const auto context = context_of(profile, launches);
    // "All2All_Pooled_Wait" may only copy: a collective has a kernel that communicates.
    const bool only_named =
        profiles::is_collective(op->name) && !reduces_between_ranks(profile, launches);
    if (auto known = only_named ? std::nullopt : profiles::any_layer_of(*op, context)) {
        const bool exact = !known->approximate;
        set_tf32(profile, launches, known->layer);
        set_strided(profile, launches, known->layer);
        return FoundLayer{*std::move(known), exact ? Found::exact : Found::assumed,
                          exact ? "" : why_of(*op, "an argument was not recorded")};
    }
    if (auto experts = experts_of(profile, *op, launches)) {
        return experts;
    }
    if (any_of_category(profile, launches, KernelCategory::attention) ||
        profiles::category_of(op->name) == KernelCategory::attention) {
        return custom(profiles::custom_attention_of(*op),
                      "queries, keys and values by their dimensions");
    }
    if (has_gemm(profile, launches) || names_product(op->name)) {
        if (auto packed = profiles::packed_gemm_of(*op)) {
            return FoundLayer{*std::move(packed), Found::assumed,
                              "weights of few bits by the sizes beside them"};
        }
        return custom(profiles::custom_gemm_of(*op), "operands by their dimensions");
    }
    if (may_multiply(profile, launches) || names_product(op->name)) {
        return std::nullopt;
    }
    if (reduces_between_ranks(profile, launches)) {
        Operator named = *op;
        named.name = profile.kernel_of(profile.launches[launches.front()]).name;
        return custom(profiles::any_layer_of(named, context), "a collective by its kernel's name");
    }
    auto work = profiles::traffic_of(*op, context);
    return work ? std::optional(FoundLayer{*std::move(work), Found::traffic,
                                           why_of(*op, "a bound from its tensors' bytes alone")})
                : std::nullopt;
}

} // namespace eyeroof::formats
