#include "analysis/scale/training_kernels.hpp"

#include "model/gpu/memory_op.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace eyeroof::analysis {

using model::CallSize;
using model::DataType;
using model::Direction;

namespace {

// As tables of products call the type; empty: none has it.
std::string measured_type(const model::TensorTypes& types) {
    if (types.input != types.weight) {
        return {};
    }
    switch (types.input) {
    case DataType::fp8:
    case DataType::mxfp8:
        return "fp8";
    case DataType::nvfp4:
        return "nvfp4";
    default:
        return {};
    }
}

// The product that a direction of a layer is, of one of the layer's experts.
std::optional<model::LibraryCall> training_product(const model::Layer& layer) {
    const auto* g = std::get_if<model::GemmShape>(&layer.shape);
    const std::string type = measured_type(layer.types);
    if (g == nullptr || type.empty()) {
        return std::nullopt;
    }
    const auto m = static_cast<double>(g->m);
    const auto n = static_cast<double>(g->n);
    const auto k = static_cast<double>(g->k);
    model::LibraryCall call;
    call.op = "gemm";
    call.type = type;
    call.library = "trtllm";
    const bool weight = layer.direction == Direction::bwd_weight;
    const bool data = layer.direction == Direction::bwd_data;
    call.of(CallSize::b) = 1.0;
    call.of(CallSize::m) = weight ? n : m;
    call.of(CallSize::n) = weight || data ? k : n;
    call.of(CallSize::k) = weight ? m : data ? n : k;
    return call;
}

model::LibraryCall cast_of(const model::LibraryCall& product) {
    model::LibraryCall cast = product;
    cast.op = "quantize";
    cast.type = "bf16_to_fp8";
    cast.of(CallSize::rows) = product.of(CallSize::m);
    cast.of(CallSize::cols) = product.of(CallSize::k);
    return cast;
}

bool is_pointwise(model::Op op) {
    return op == model::Op::elementwise || op == model::Op::layernorm || op == model::Op::rope;
}

} // namespace

double TrainingKernels::time_s(const LayerReport& report, const LayerReport& alone) const {
    const model::Layer& layer = report.layer;
    if (gpu == nullptr) {
        return report.time_s;
    }
    if (fused && is_pointwise(layer.op)) {
        const double moved =
            model::kernel_start_s(*gpu) + static_cast<double>(report.bytes) * byte_s;
        return std::min(report.time_s, moved);
    }
    const auto call = training_product(layer);
    const auto product =
        measured != nullptr && call ? model::library_time(*gpu, *measured, *call) : std::nullopt;
    if (!product || !product->exact) {
        return report.time_s;
    }
    const double settled = alone.time_s > 0.0 ? std::max(report.time_s / alone.time_s, 1.0) : 1.0;
    const double experts =
        settled * static_cast<double>(std::get<model::GemmShape>(layer.shape).batch);
    if (layer.direction != Direction::bwd_weight) {
        return experts * product->time_s;
    }
    constexpr double kLeastShare = 0.5; // of the time with the quantization: the product itself
    const auto cast = model::library_time(*gpu, *measured, cast_of(*call));
    const double bare = product->time_s - (cast ? cast->time_s : 0.0);
    return experts * std::max(bare, kLeastShare * product->time_s);
}

} // namespace eyeroof::analysis
