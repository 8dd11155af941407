#include "model/gpu/predict.hpp"

#include "model/gpu/attention.hpp"
#include "model/gpu/gpu_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace eyeroof::model {

namespace {

// Decades by which a value lies outside a range; none where the range is unknown or empty, as that
// of the operations of copies.
double decades_outside(double value, double low, double high) {
    if (high <= 0.0) {
        return 0.0;
    }
    if (value < low) {
        return std::log10(low / std::max(value, 1.0));
    }
    return value > high ? std::log10(value / high) : 0.0;
}

// A part that was the longest in hardly any measured row was not measured: half as wide again.
double unmeasured_part(const ClassRecord& record, const KernelChoice& kernel) {
    constexpr double kHardlyAny = 0.02;
    constexpr double kWider = 1.5;
    const auto share = record.binds.find(std::string(longest_part(kernel)));
    const bool measured = share != record.binds.end() && share->second >= kHardlyAny;
    return record.binds.empty() || measured ? 1.0 : kWider;
}

// The kind's held-out errors, or the class's twice as wide (in ln) where the kind was not measured;
// wider by a third for each decade of work or bytes outside the rows that they come from.
void set_interval(const Gpu& gpu, const Layer& layer, const Software& software, Timing timing,
                  const KernelChoice& kernel, GpuPrediction& p) {
    if (kernel.served) {
        p.measured = kernel.served->machine_measured;
        p.in_domain = true;
        p.low_s = std::min(std::max(kernel.served->low_s, p.step6_s), p.time_s);
        p.high_s = std::max(kernel.served->high_s, p.time_s);
        p.energy_j = kernel.served->energy_j * p.time_s / kernel.served->time_s;
        return;
    }
    const ClassRecord& record = gpu.calibration.record(p.kernel_class);
    const double outside =
        decades_outside(p.flops, record.domain.flops_low, record.domain.flops_high) +
        decades_outside(p.bytes, record.domain.bytes_low, record.domain.bytes_high);
    const auto of_kind = record.kinds.find(row_kind(layer, software, timing));
    const ErrorBand& band = of_kind == record.kinds.end() ? record.band : of_kind->second;
    const double unknown = of_kind == record.kinds.end() && !record.kinds.empty() ? 2.0 : 1.0;
    const double widen = unknown * unmeasured_part(record, kernel) * (1.0 + outside / 3.0);
    p.measured = record.measured;
    p.in_domain = outside <= 0.0;
    p.low_s = std::max(p.time_s * std::pow(band.low, widen), p.step6_s);
    p.high_s = std::max(p.time_s * std::pow(band.high, widen), p.time_s);
    p.low_s = std::min(p.low_s, p.time_s);
}

void note_algorithm(const KernelChoice& kernel, const Work& work, GpuPrediction& p) {
    if (kernel.conv && kernel.conv->macs > 0.0 && work.macs > 0) {
        const double ratio = static_cast<double>(work.macs) / kernel.conv->macs;
        if (ratio > 1.01) {
            p.notes.push_back(fmt::format("{} multiplies {:.2f} times less than the direct count",
                                          conv_algorithm_name(kernel.conv->algorithm), ratio));
        }
    }
    if (p.clock_share < 0.9) {
        p.notes.push_back(
            fmt::format("power holds the clock at {:.0f} % of boost", 100.0 * p.clock_share));
    }
    if (!p.in_domain) {
        p.notes.emplace_back("outside the range of the measurements behind the constants");
    }
}

} // namespace

namespace {

// How the operands of a product in 8 bits or fewer come about: what tells its rows apart.
std::string cast_suffix(DataType type, ByteCast cast) {
    if (is_narrow_float(type)) {
        const std::string own = "_" + std::string(data_type_name(type));
        return cast >= ByteCast::fused ? own + "_fused" : own;
    }
    const bool is_cast = cast == ByteCast::kernels || cast == ByteCast::slow;
    return type != DataType::int8 ? "" : is_cast ? "_int8_cast" : "_int8";
}

std::string narrow_suffix(DataType type) {
    return is_narrow_float(type) ? "_" + std::string(data_type_name(type)) : "";
}

// Of attention: training's kernels are their own, the likeliest of the others packs heads.
std::string heads_suffix(const Software& software) {
    return software.attention == AttentionKernel::training ? "_training"
           : software.heads == HeadPacking::apart          ? "_apart"
                                                           : "_packed";
}

std::string fused_suffix(const Layer& layer, const Software& software) {
    const bool gradient = layer.direction != Direction::fwd;
    return layer.op == Op::attention                      ? gradient ? "" : heads_suffix(software)
                                : software.experts == ExpertKernel::flashinfer ? "_flashinfer"
                                                          : "";
}

} // namespace

std::string row_kind(const Layer& layer, const Software& software, Timing timing) {
    if (layer.op == Op::attention || layer.op == Op::moe) {
        const std::string kind = layer.direction != Direction::fwd ? "_gradient"
                                 : reads_cache(layer)              ? "_generation"
                                                                   : "";
        return std::string(op_name(layer.op)) + kind + narrow_suffix(layer.types.input) +
               fused_suffix(layer, software);
    }
    if (layer.op == Op::layernorm && layer.direction != Direction::fwd) {
        return "layernorm_gradient";
    }
    if (layer.op == Op::layernorm && timing != Timing::eager &&
        software.norm > NormKernel::scalar) {
        return "layernorm_vector";
    }
    const bool own = layer.op == Op::conv2d && layer.direction != Direction::fwd;
    const bool product = layer.op == Op::conv2d || layer.op == Op::gemm || layer.op == Op::bmm ||
                         layer.op == Op::attention;
    const std::string bytes = product ? cast_suffix(layer.types.input, software.cast) : "";
    const bool alone = !product && (timing == Timing::kernel || timing == Timing::graph);
    return std::string(op_name(layer.op)) + (own              ? "_gradient"
                                             : !bytes.empty() ? bytes
                                             : alone          ? "_kernel"
                                                              : "");
}

namespace {

bool is_product_of_bytes(const Layer& layer) {
    const DataType type = layer.types.input;
    return (layer.op == Op::gemm || layer.op == Op::bmm) &&
           (is_narrow_float(type) || type == DataType::int8);
}

// The library is unknown: the interval holds those of each of the candidates.
void hold_all(const Gpu& gpu, const Layer& layer, std::initializer_list<Software> candidates,
              Timing timing, GpuPrediction& p) {
    for (const Software& candidate : candidates) {
        if (const auto other = predict(gpu, layer, candidate, timing, Detail::time)) {
            p.low_s = std::min(p.low_s, std::max(other->low_s, p.step6_s));
            p.high_s = std::max(p.high_s, other->high_s);
        }
    }
}

void hold_either_cast(const Gpu& gpu, const Layer& layer, Software software, Timing timing,
                      GpuPrediction& p) {
    Software fused = software;
    software.cast = ByteCast::kernels;
    fused.cast = ByteCast::fused;
    hold_all(gpu, layer, {software, fused}, timing, p);
}

void hold_either_packing(const Gpu& gpu, const Layer& layer, Software software, Timing timing,
                         GpuPrediction& p) {
    Software apart = software;
    software.heads = HeadPacking::packed;
    apart.heads = HeadPacking::apart;
    hold_all(gpu, layer, {software, apart}, timing, p);
}

// What is taken where no library is named, and which other the interval holds.
constexpr const char* kLikeliestCast =
    "no library named: operands are cast in kernels of their own, as TensorRT-LLM does; the "
    "interval holds vLLM's one kernel too";
constexpr const char* kLikeliestQuickCast =
    "no library named: operands are cast in one kernel, as vLLM and SGLang do; the interval holds "
    "TensorRT-LLM's several too";
constexpr const char* kLikeliestHeads = "no library named: heads that share keys are packed, as "
                                        "FlashAttention does; the interval holds "
                                        "TensorRT-LLM's kernels too";

} // namespace

namespace {

// The constants of the serving library that the software names, where its kernels were measured.
Diagnostics serve(const Gpu& gpu, const Layer& layer, const Software& software, Timing timing,
                  KernelChoice& kernel) {
    const bool alone = timing == Timing::kernel || timing == Timing::graph;
    if (software.serving.name.empty() || gpu.kernels == nullptr || !alone) {
        return {};
    }
    const auto& kernels = gpu.kernels->kernels();
    if (!kernels) {
        return kernels.diagnostics();
    }
    kernel.served = layer_time(gpu, *kernels, layer, software.serving);
    if (kernel.served) {
        kernel.body_s = served_body_s(gpu, kernel);
    }
    return {};
}

} // namespace

GpuPrediction predict_kernel(const Gpu& gpu, const Layer& layer, const Work& work,
                             const KernelChoice& kernel, const Software& software, Timing timing,
                             Detail detail) {
    GpuPrediction p;
    p.kernel_class = kernel.kernel_class;
    p.work_macs = work.macs;
    p.work_flops = work.flops;
    p.work_bytes = work.bytes();
    p.flops = static_cast<double>(work.flops);
    p.bytes = static_cast<double>(work.bytes());
    p.clock_share = kernel.conv     ? kernel.conv->product.clock_share
                    : kernel.matmul ? kernel.matmul->clock_share
                    : kernel.fused  ? kernel.fused->clock_share
                                    : 1.0;
    p.form = form_of(gpu, layer, kernel);
    p.time_s = timed_s(gpu, layer, kernel, timing);
    p.launch_s = std::max(p.time_s - kernel.body_s, 0.0);
    set_chains(gpu, layer, work, kernel, detail, p);
    set_interval(gpu, layer, software, timing, kernel, p);
    note_algorithm(kernel, work, p);
    return p;
}

Result<GpuPrediction> predict(const Gpu& gpu, const Layer& layer, const Software& software,
                              Timing timing, Detail detail) {
    const auto work = work_of(layer);
    if (!work) {
        return work.diagnostics();
    }
    auto kernel = kernel_of(gpu, layer, *work, software);
    if (!kernel) {
        return kernel.diagnostics();
    }
    if (auto found = serve(gpu, layer, software, timing, *kernel); found.has_errors()) {
        return found;
    }
    GpuPrediction p = predict_kernel(gpu, layer, *work, *kernel, software, timing, detail);
    if (kernel->served) {
        return p;
    }
    if (!software.serving.name.empty() && p.kernel_class != KernelClass::memory) {
        p.notes.push_back(fmt::format("{} was not measured on this operator, type, and machine: "
                                      "constants of the kernel's class",
                                      serving_words(software.serving)));
    }
    if (software.cast == ByteCast::usual && is_product_of_bytes(layer)) {
        hold_either_cast(gpu, layer, software, timing, p);
        if (is_narrow_float(layer.types.input)) {
            p.notes.emplace_back(layer.types.input == DataType::fp8 ? kLikeliestCast
                                                                    : kLikeliestQuickCast);
        }
    }
    const bool serves = software.attention == AttentionKernel::serving &&
                        layer.direction == Direction::fwd &&
                        p.kernel_class == KernelClass::attention;
    if (software.heads == HeadPacking::usual && serves) {
        hold_either_packing(gpu, layer, software, timing, p);
        p.notes.emplace_back(kLikeliestHeads);
    }
    return p;
}

} // namespace eyeroof::model
