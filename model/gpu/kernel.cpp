// From a layer to the library's kernel and its body time.
#include "model/gpu/attention.hpp"
#include "model/gpu/grouped.hpp"
#include "model/gpu/memory_op.hpp"
#include "model/gpu/miopen.hpp"
#include "model/gpu/predict.hpp"
#include "model/gpu/supported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace eyeroof::model {

namespace {

bool is_product(Op op) {
    return op == Op::gemm || op == Op::bmm || op == Op::attention;
}

double bytes_of(DataType type) {
    return bytes_per_element(type);
}

// [m, n, k] of the product in the layer's direction; the gradients permute it.
Product gemm_product(const Layer& layer, const GemmShape& g) {
    const bool shared = layer.op == Op::gemm;
    const double batch = static_cast<double>(g.batch);
    Product p{shared ? 1.0 : batch,        static_cast<double>(g.m) * (shared ? batch : 1.0),
              static_cast<double>(g.n),    static_cast<double>(g.k),
              bytes_of(layer.types.input), bytes_of(layer.types.output)};
    if (layer.direction == Direction::bwd_data) {
        std::swap(p.n, p.k);
    } else if (layer.direction == Direction::bwd_weight) {
        std::swap(p.m, p.k);
    }
    return p;
}

std::vector<Product> products_of(const Layer& layer) {
    if (const auto* g = std::get_if<GemmShape>(&layer.shape)) {
        return {gemm_product(layer, *g)};
    }
    const auto& a = std::get<AttentionShape>(layer.shape);
    const double heads = static_cast<double>(a.batch) * static_cast<double>(a.groups);
    const double in = bytes_of(layer.types.input);
    const double m = static_cast<double>(a.m);
    const double n = static_cast<double>(a.n);
    const double k = static_cast<double>(a.k);
    const double v = static_cast<double>(a.value_size());
    const Product scores = {heads, m, n, k, in, in};
    if (layer.direction == Direction::fwd) {
        return {scores, {heads, m, v, n, in, in}};
    }
    return {scores,                    // again
            {heads, m, n, v, in, in},  // dO V^T
            {heads, n, v, m, in, in},  // P^T dO
            {heads, m, k, n, in, in},  // dS K
            {heads, n, k, m, in, in}}; // dS^T Q
}

const MatmulTerms& matmul_terms(const GpuCalibration& c, KernelClass kernel_class) {
    return kernel_class == KernelClass::tensor_gemm ? c.tensor_gemm
           : kernel_class == KernelClass::batched   ? c.batched
                                                    : c.linear;
}

void run_products(const Gpu& gpu, const Layer& layer, const Software& software,
                  KernelChoice& kernel) {
    const bool batched = kernel.kernel_class == KernelClass::batched;
    const bool tensor = kernel.kernel_class == KernelClass::tensor_gemm;
    const bool early = software.library == Library::until_10;
    const bool first =
        kernel.kernel_class == KernelClass::linear && is_first_library(gpu, software);
    const std::vector<CtaTile>& tiles =
        first ? first_library_tiles() : library_tiles(gpu, batched, tensor, early);
    for (const Product& p : kernel.products) {
        const std::vector<int>& splits =
            first ? first_library_splits(p) : library_splits(batched || layer.op == Op::attention);
        kernel.matmul =
            matmul_time(gpu, kernel.type, matmul_terms(gpu.calibration, kernel.kernel_class), p,
                        tiles, splits, early, software.cast);
        kernel.body_s += kernel.matmul->body_s;
    }
}

// With channels first, a filter of one tap and unit strides is a product whose operands lie as a
// GEMM of the libraries takes them, where an image's plane is a multiple of four elements: cuDNN
// runs such layers without changing a layout, forward and backward, and depthwise ones, too (order
// of kernels in ResNet-50, U-Net, SSD300, and MobileNet-v2, profiles/recorded).
bool multiplies_in_place(const ConvShape& shape) {
    constexpr Count kAligned = 4; // elements
    return shape.r == 1 && shape.s == 1 && shape.depth == 1 && shape.stride == Extent2{1, 1} &&
           shape.pad == Extent2{0, 0} && shape.h * shape.w % kAligned == 0;
}

bool is_depthwise(const ConvShape& shape) {
    return shape.groups > 1 && shape.groups == shape.c;
}

// With channels first, kernels before and after a convolution on tensor cores change the layout, in
// every direction; where that takes longer than it saves, the kernels for vector lanes, which need
// no change, serve it as fast as in fp32. fp64, whose lanes are slower, keeps its layout.
ConvTime best_conv(const Gpu& gpu, const Layer& layer, const Software& software,
                   const KernelChoice& kernel) {
    const auto& shape = std::get<ConvShape>(layer.shape);
    const double element_bytes = bytes_of(layer.types.input);
    const bool first = is_first_library(gpu, software);
    const GpuCalibration& terms = gpu.calibration;
    if (gpu.arch == GpuArch::amd && !is_depthwise(shape)) {
        const bool tensor = kernel.kernel_class == KernelClass::tensor_conv;
        const bool channels_first = software.layout == Layout::channels_first;
        ConvTime t = miopen_time(gpu, kernel.type, tensor ? terms.tensor_conv : terms.conv, shape,
                                 layer.direction, element_bytes,
                                 channels_first && !software.layout_passes_apart);
        t.passes = channels_first && t.algorithm == ConvAlgorithm::implicit_gemm;
        return t;
    }
    if (kernel.kernel_class != KernelClass::tensor_conv) {
        return conv_time(gpu, kernel.type, terms.conv, shape, layer.direction, element_bytes,
                         first);
    }
    const bool passes = software.layout == Layout::channels_first && !is_depthwise(shape) &&
                        !multiplies_in_place(shape) && kernel.type != DataType::fp64;
    const auto on_tensor_cores = [&](bool with_passes) {
        return conv_time(gpu, kernel.type, terms.tensor_conv, shape, layer.direction, element_bytes,
                         first, with_passes, software.library == Library::until_10);
    };
    ConvTime tensor = on_tensor_cores(passes);
    tensor.passes = passes;
    if (passes && gpu.rate(DataType::fp32).flops_per_s > 0.0) {
        const ConvTime lanes = conv_time(gpu, DataType::fp32, terms.conv, shape, layer.direction,
                                         element_bytes, first);
        if (lanes.body_s < tensor.body_s) {
            return lanes;
        }
    }
    if (passes && software.layout_passes_apart) {
        tensor = on_tensor_cores(false);
        tensor.passes = true;
    }
    return tensor;
}

// Batched products of matrices with a vector each: cuBLAS since 11 streams the matrices through
// kernels of their own ("gemvNSP", "gemvx" in traces), which have no tiles.
bool is_batch_of_vectors(const Gpu& gpu, const Layer& layer) {
    const auto* g = std::get_if<GemmShape>(&layer.shape);
    const bool vendor = gpu.arch != GpuArch::amd && gpu.arch != GpuArch::host;
    return g != nullptr && layer.op == Op::bmm && std::min(g->m, g->n) == 1 &&
           layer.direction == Direction::fwd && vendor;
}

} // namespace

KernelClass kernel_class_of(const Gpu& gpu, const Layer& layer) {
    const bool tensor = gpu.rate(layer.types.input).pipe == Pipe::tensor;
    if (layer.op == Op::conv2d) {
        return tensor ? KernelClass::tensor_conv : KernelClass::conv;
    }
    if (layer.op == Op::moe) {
        return KernelClass::grouped;
    }
    if (layer.op == Op::attention && tensor) { // elsewhere two products, one after the other
        return KernelClass::attention;
    }
    if (!is_product(layer.op) || (!tensor && is_batch_of_vectors(gpu, layer))) {
        return KernelClass::memory;
    }
    return tensor                 ? KernelClass::tensor_gemm
           : layer.op == Op::gemm ? KernelClass::linear
                                  : KernelClass::batched;
}

Result<KernelChoice> kernel_of(const Gpu& gpu, const Layer& layer, const Work& work,
                               const Software& software) {
    KernelChoice kernel;
    kernel.kernel_class = kernel_class_of(gpu, layer);
    kernel.type = layer.types.input;
    const bool arithmetic = kernel.kernel_class != KernelClass::memory;
    if (arithmetic && gpu.rate(kernel.type).flops_per_s <= 0.0) {
        return Result<KernelChoice>::failure(
            "unsupported-type",
            fmt::format("this GPU has no units for {}", data_type_name(kernel.type)),
            "it has " + supported_types(gpu));
    }
    if (const auto link = link_of(gpu, layer); link && *link <= 0.0) {
        return Result<KernelChoice>::failure("no-link", "this machine has no link to copy over",
                                             "its description may name one under links");
    }
    if (kernel.kernel_class == KernelClass::attention) {
        kernel.fused = attention_time(gpu, kernel.type, gpu.calibration.attention, layer, work,
                                      software.heads, software.attention);
        kernel.body_s = kernel.fused->body_s;
    } else if (kernel.kernel_class == KernelClass::grouped) {
        kernel.fused =
            grouped_time(gpu, kernel.type, gpu.calibration.grouped, layer, software.experts);
        kernel.body_s = kernel.fused->body_s;
    } else if (!arithmetic) {
        kernel.memory =
            memory_time(gpu, gpu.calibration.memory, layer, work, software.norm, software.layout);
        kernel.body_s = kernel.memory.body_s;
    } else if (layer.op == Op::conv2d) {
        kernel.conv = best_conv(gpu, layer, software, kernel);
        kernel.body_s = kernel.conv->body_s;
    } else {
        kernel.products = products_of(layer);
        run_products(gpu, layer, software, kernel);
    }
    return kernel;
}

namespace {

// Functions whose eager call costs the host more: a scalar operand is wrapped first, activations
// are called through a module.
constexpr std::array<std::string_view, 14> kSlowCalls = {
    "addu", "subu",  "mulu",       "divu",      "powu",     "relu",  "gelu",
    "silu", "relu6", "leaky_relu", "hardswish", "softplus", "clamp", "dropout"};

// Host's share of an eager call of a memory operator; see MemoryTerms.
double host_seconds(const MemoryTerms& t, const Layer& layer) {
    double host = t.host_s;
    if (layer.op == Op::softmax) {
        host += t.host_softmax_s;
    }
    if (const auto* e = std::get_if<ElementwiseShape>(&layer.shape)) {
        const bool known =
            std::find(kSlowCalls.begin(), kSlowCalls.end(), e->fn) != kSlowCalls.end();
        host += known ? t.host_scalar_s : 0.0;
    }
    return host;
}

} // namespace

namespace {

// What a kernel takes beyond its work is cycles: filling and draining an empty GPU. What the host
// takes does not depend on the GPU.
double launch_seconds(const Gpu& gpu, const ClassRecord& record, Timing timing) {
    const double given = record.launch[static_cast<std::size_t>(timing)];
    const double stream = record.launch[static_cast<std::size_t>(Timing::stream)];
    const bool device = timing == Timing::kernel || timing == Timing::graph;
    return device ? std::min(given * kReferenceHz / gpu.boost_hz, std::max(given, stream)) : given;
}

} // namespace

double served_body_s(const Gpu& gpu, const KernelChoice& kernel) {
    constexpr double kLeast = 0.3; // of a time that hardly passes the start of a kernel
    const double time_s = kernel.served->time_s;
    const ClassRecord& record = gpu.calibration.record(kernel.kernel_class);
    return std::max(time_s - launch_seconds(gpu, record, Timing::kernel), kLeast * time_s);
}

double timed_s(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel, Timing timing) {
    const ClassRecord& record = gpu.calibration.record(kernel.kernel_class);
    if (kernel.served) {
        return kernel.served->time_s;
    }
    const double launch_s = launch_seconds(gpu, record, timing);
    if (kernel.kernel_class != KernelClass::memory || timing != Timing::eager) {
        return launch_s + kernel.body_s;
    }
    const MemoryTerms& t = gpu.calibration.memory;
    const bool norm = layer.op == Op::layernorm || layer.op == Op::batchnorm;
    const double tail = t.host_tail_s + (norm ? t.host_norm_s : 0.0);
    const double most = std::max(tail, kernel.body_s);
    const double both = most * std::pow(std::pow(tail / most, t.host_overlap) +
                                            std::pow(kernel.body_s / most, t.host_overlap),
                                        1.0 / t.host_overlap);
    return host_seconds(t, layer) + both;
}

namespace {

std::string_view longest_of_product(const MatmulTime& t) {
    const double most = std::max({t.compute_s, t.dram_s, t.l2_s, t.split_s});
    return most == t.compute_s ? "compute"
           : most == t.dram_s  ? "dram"
           : most == t.l2_s    ? "l2"
                               : "split";
}

} // namespace

std::string_view longest_part(const KernelChoice& kernel) {
    if (kernel.conv) {
        const double product = kernel.conv->product.compute_s;
        return product >= kernel.conv->body_s - product ? "compute" : "layout";
    }
    if (kernel.matmul) {
        return longest_of_product(*kernel.matmul);
    }
    if (kernel.fused) {
        return kernel.fused->dram_bound() ? "dram" : "compute";
    }
    const MemoryTime& m = kernel.memory;
    constexpr double kMostly = 0.5;
    return m.link_bytes_per_s > 0.0 ? "link"
           : m.gather_bound         ? "sm"
           : m.resident > kMostly   ? "l2"
                                    : "dram";
}

} // namespace eyeroof::model
