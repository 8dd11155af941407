#include "model/gpu/conv.hpp"

#include "model/gpu/memory_op.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace eyeroof::model {

namespace {

constexpr double kChannelChunk = 32.0;   // channels of one filter tap that a tensor-core step takes
constexpr double kChannelBlock = 64.0;   // channels of one filter tap in a weight gradient's tile
constexpr double kWideBlock = 128.0;     // the same on Turing
constexpr double kAtomicSumBytes = 18.0; // a weight's fp32 sum: zeroed, added to, read and cast
constexpr double kSumBytes = 8.0;        // a partial sum in fp32, written and read
constexpr double kAlignment = 8.0;       // fp16 elements of 16 bytes
constexpr double kFewChannels = 4.0;     // below which a data gradient may be scattered
constexpr double kFusedChannels = 32.0;
constexpr double kFusedPoints = 16.0;

const std::vector<CtaTile>& vector_tiles() {
    static const std::vector<CtaTile> tiles = {{128, 128}, {128, 64}, {128, 32}, {64, 64},
                                               {64, 32},   {32, 128}, {64, 128}};
    return tiles;
}

const std::vector<CtaTile>& tensor_tiles() {
    static const std::vector<CtaTile> tiles = {{256, 128}, {128, 256}, {128, 128}, {128, 64},
                                               {64, 128},  {256, 64},  {64, 64},   {128, 32}};
    return tiles;
}

// Data gradients on tensor cores take large tiles and never split k: 7x7 layers of 8 and of 16
// images take one time, that of a CTA's walk along k.
const std::vector<CtaTile>& tensor_data_tiles() {
    static const std::vector<CtaTile> tiles = {{128, 128}, {256, 64}, {256, 128}, {128, 256}};
    return tiles;
}

const std::vector<CtaTile>& wide_weight_tiles() {
    static const std::vector<CtaTile> tiles = {{128, 128}, {256, 128}, {128, 256}};
    return tiles;
}

const std::vector<CtaTile>& vector_weight_tiles() {
    static const std::vector<CtaTile> tiles = {{128, 128}, {128, 64}, {64, 128},
                                               {64, 64},   {32, 128}, {128, 32}};
    return tiles;
}

const std::vector<int>& one_split() {
    static const std::vector<int> splits = {1};
    return splits;
}

const std::vector<int>& many_splits() {
    static const std::vector<int> splits = {1, 2, 4, 8, 16, 32};
    return splits;
}

// A weight gradient reduces over all pixels of the batch into few outputs.
const std::vector<int>& weight_splits() {
    static const std::vector<int> splits = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    return splits;
}

double round_up(double value, double step) {
    return std::ceil(value / step) * step;
}

struct Conv {
    const Gpu* gpu;
    DataType type;
    const ConvTerms* terms;
    double n, c, h, w, k, r, s, p, q, groups, stride_area; // c and k of one group
    double phases, phase_taps, phase_pixels;               // see phases_of
    bool overhangs; // padding of the (dilated) filter's size or more
    Direction direction;
    double element_bytes;
    bool tensor;
    bool transposes; // see conv_time
    bool early;      // likewise
    double depth;    // taps in depth, which stand among the channels that are summed over
    double stride_high;
    bool dilated;
    double clock = 1.0; // share of it that power leaves; memory does not slow down with it

    double input_bytes() const {
        return n * c * h * w * groups * element_bytes / (direction == Direction::fwd ? depth : 1.0);
    }
    double output_bytes() const {
        return n * k * p * q * groups * element_bytes /
               (direction == Direction::bwd_data ? depth : 1.0);
    }
    double weight_bytes() const { return c * k * r * s * groups * element_bytes; }
    double bytes() const { return input_bytes() + output_bytes() + weight_bytes(); }
    double macs() const { return n * p * q * k * c * r * s * groups; }
    // The pipe's own time for some MACs: no cost of an algorithm is below it.
    double pipe_s(double multiplied) const {
        return 2.0 * multiplied / gpu->rate(type).flops_per_s;
    }
    double dram_s(double amount) const {
        return amount / (terms->matmul.dram_share * gpu->dram_bytes_per_s);
    }
};

// The strides divide the input into phases, each reached by its own taps: a strided data gradient
// is a product for each phase that has taps.
struct Phases {
    double count, taps, pixels; // that have taps; of the filter in the largest; of an image in one
};

Phases phases_of(const ConvShape& shape, bool overhangs) {
    const auto along = [&](Count size, Count filter, Count stride, Count pad) {
        const Count length = size + (overhangs ? 2 * pad : 0);
        return std::array<double, 3>{static_cast<double>(std::min(filter, stride)),
                                     static_cast<double>((filter + stride - 1) / stride),
                                     static_cast<double>((length + stride - 1) / stride)};
    };
    const auto high = along(shape.h, shape.r, shape.stride.h, shape.pad.h);
    const auto wide = along(shape.w, shape.s, shape.stride.w, shape.pad.w);
    return {high[0] * wide[0], high[1] * wide[1], high[2] * wide[2]};
}

// Kernels on Turing: blocks of 128 channels in weight gradients, summed up in fp32 by atomics. T4
// alone tells so: other GPUs keep V100's, whose gradients gain as much as forward products do.
bool wide_weights(const Conv& c) {
    return c.tensor && c.gpu->arch == GpuArch::turing;
}

// Channels of a filter tap that a tensor-core step takes; grouped kernels take fewer, down to the
// 16 bytes of a load, and those of an image's few channels 8 or 16 bytes.
double channel_chunk(const Conv& c, double chunk) {
    const double channels = c.direction == Direction::bwd_data ? c.k : c.c;
    if (!c.early && channels <= kAlignment) {
        return channels <= kFewChannels ? kFewChannels : kAlignment;
    }
    return c.groups > 1.0 ? std::min(chunk, std::max(kAlignment, c.c)) : chunk;
}

// Data gradients that insert zeros between the strided elements and multiply them too, instead of a
// product for each phase: those in three dimensions, and grouped ones that stride or dilate.
bool inserts_zeros(const Conv& c) {
    const bool sparse = c.phases > 1.0 || c.dilated;
    return c.direction == Direction::bwd_data && sparse && (c.depth > 1.0 || c.groups > 1.0);
}

// Of these, groups and channels that are no multiple of 16 bytes run on vector lanes: transposed
// convolutions of 3 to 16 channels take 18 ms on an A100 and 47 on a T4, those of 32 to 64 channels
// with 43 times the MACs 2 ms and 24 (KernelBench@7dd9cfa0).
bool zeros_on_lanes(const Conv& c) {
    constexpr double kAligned = 4.0; // fp32 elements of 16 bytes
    return c.tensor && inserts_zeros(c) &&
           (c.groups > 1.0 || std::fmod(c.k / c.depth, kAligned) > 0.0);
}

double joined3(double a, double b) {
    return std::cbrt(a * a * a + b * b * b);
}

Product implicit_product(const Conv& c) {
    const double chunk = c.tensor ? channel_chunk(c, kChannelChunk) : 1.0;
    const double align = c.tensor ? kAlignment : 1.0;
    Product product{c.groups, 1, 1, 1, c.element_bytes, c.element_bytes};
    switch (c.direction) {
    case Direction::fwd:
        product.m = c.n * c.p * c.q;
        product.n = round_up(c.k, align);
        product.k = round_up(c.c, chunk) * c.r * c.s;
        break;
    case Direction::bwd_data:
        if (inserts_zeros(c)) {
            // n counts planes of the short side: in depth as many zeros come in as along the
            // height.
            const double planes = c.depth > 1.0 ? c.n * c.stride_high : c.n;
            product.m = planes * c.h * c.w;
            product.n = round_up(c.c, align);
            product.k = round_up(c.k, kAlignment) * c.r * c.s;
            break;
        }
        product.batch = c.groups * c.phases;
        product.m = c.n * c.phase_pixels;
        product.n = round_up(c.c, align);
        product.k = round_up(c.k, chunk) * c.phase_taps * std::pow(c.phases, c.terms->stride_waste);
        break;
    case Direction::bwd_weight:
        product.m = round_up(c.k, align);
        product.n = round_up(c.c, wide_weights(c) ? channel_chunk(c, kWideBlock)
                                  : c.tensor      ? channel_chunk(c, kChannelBlock)
                                                  : 1.0) *
                    c.r * c.s;
        product.k = c.n * c.p * c.q;
        break;
    }
    return product;
}

struct Kernels {
    const std::vector<CtaTile>* tiles;
    const std::vector<int>* splits;
    double cost; // against a plain product
};

Kernels kernels_of(const Conv& c) {
    switch (c.direction) {
    case Direction::bwd_data:
        return {c.tensor && !zeros_on_lanes(c) ? &tensor_data_tiles() : &vector_tiles(),
                &one_split(), c.terms->bwd_data_cost};
    case Direction::bwd_weight:
        return {wide_weights(c) ? &wide_weight_tiles()
                : c.tensor      ? &tensor_tiles()
                                : &vector_weight_tiles(),
                &weight_splits(), c.terms->bwd_weight_cost};
    case Direction::fwd:
        break;
    }
    if (!c.tensor &&
        c.depth > 1.0) { // no narrow tiles: 16 channels take three times as long on a T4
        return {&tensor_data_tiles(), &one_split(), c.terms->fwd_cost};
    }
    return {c.tensor ? &tensor_tiles() : &vector_tiles(), c.tensor ? &many_splits() : &one_split(),
            c.terms->fwd_cost};
}

// Tensor-core kernels have no gradients of padding that overhangs: the vector lanes serve them.
double lanes_cost(const Conv& c) {
    const double vector = c.gpu->rate(DataType::fp32).flops_per_s;
    const bool overhangs = c.overhangs && c.direction != Direction::fwd && c.depth == 1.0;
    const bool lanes = vector > 0.0 && c.tensor && (overhangs || zeros_on_lanes(c));
    return lanes ? std::max(1.0, c.gpu->rate(c.type).flops_per_s / vector) : 1.0;
}

// fp32 sums of a weight gradient beside its result, seconds.
double sums_s(const Conv& c) {
    const double each = wide_weights(c) ? kAtomicSumBytes
                        : c.tensor      ? 0.0
                                        : kSumBytes * c.terms->weight_sums;
    return c.direction == Direction::bwd_weight
               ? c.dram_s(c.weight_bytes() / c.element_bytes * each)
               : 0.0;
}

// Passes beside a product on tensor cores.
double layout_seconds(const Conv& c) {
    if (!c.transposes) {
        return c.terms->layout_share * 2.0 * c.dram_s(c.bytes()) + c.terms->layout_s;
    }
    const double element = c.element_bytes;
    const double in = c.n * c.h * c.w, out = c.n * c.p * c.q; // positions
    return layout_pass_s(*c.gpu, in, c.input_bytes() / (in * element), c.type) +
           layout_pass_s(*c.gpu, out, c.output_bytes() / (out * element), c.type) +
           c.terms->layout_s;
}

ConvTime implicit_gemm(const Conv& c) {
    const Kernels kernels = kernels_of(c);
    ConvTime t;
    t.algorithm = ConvAlgorithm::implicit_gemm;
    t.product = matmul_compute(*c.gpu, c.type, c.terms->matmul, implicit_product(c), *kernels.tiles,
                               *kernels.splits, c.tensor ? 16.0 : 8.0);
    t.macs = c.macs();
    t.dram_bytes = c.bytes();
    const double product_s =
        std::max(t.product.body_s * kernels.cost * lanes_cost(c), c.pipe_s(c.macs()));
    t.body_s = joined3(product_s / c.clock, c.dram_s(c.bytes()));
    t.body_s += sums_s(c);
    if (c.tensor && !zeros_on_lanes(c)) {
        t.body_s += layout_seconds(c);
    }
    return t;
}

// Data gradients of few channels (an image's) leave most of an implicit product's tile empty: a
// product into columns (N P Q rows of C R S) that are then scattered into the input (col2im).
ConvTime scattered_columns(const Conv& c) {
    constexpr double kPasses = 3.0; // columns written, read, added to the input
    const Product product{c.groups, c.n * c.p * c.q, c.c * c.r * c.s,
                          c.k,      c.element_bytes, c.element_bytes};
    ConvTime t;
    t.algorithm = ConvAlgorithm::columns;
    t.product = matmul_compute(*c.gpu, c.type, c.terms->matmul, product,
                               c.tensor ? tensor_tiles() : vector_tiles(), one_split(),
                               c.tensor ? 16.0 : 8.0);
    t.macs = c.macs();
    t.dram_bytes = c.bytes() + kPasses * c.groups * product.m * product.n * c.element_bytes;
    t.body_s = t.product.body_s * c.terms->bwd_data_cost / c.clock + c.dram_s(t.dram_bytes);
    return t;
}

// What Winograd sees: forward, or the data gradient as a forward convolution of the gradient.
struct Winograd {
    double reduced, produced; // channels
    double height, width;     // of what is produced
};

Winograd winograd_view(const Conv& c) {
    const bool data = c.direction == Direction::bwd_data;
    return {data ? c.k : c.c, data ? c.c : c.k, data ? c.h : c.p, data ? c.w : c.q};
}

// Images x rows x columns of 2x2 output tiles in a block of 32; from cuDNN's kernel names.
double fused_blocks(const Conv& c, const Winograd& v) {
    constexpr std::array<std::array<double, 3>, 6> kShapes = {
        {{1, 4, 8}, {2, 4, 4}, {2, 2, 8}, {4, 1, 8}, {4, 2, 4}, {4, 4, 2}}};
    double least = std::numeric_limits<double>::infinity();
    for (const auto& [images, rows, columns] : kShapes) {
        least =
            std::min(least, std::ceil(c.n / images) * std::ceil(std::ceil(v.height / 2.0) / rows) *
                                std::ceil(std::ceil(v.width / 2.0) / columns));
    }
    return least;
}

ConvTime fused_winograd(const Conv& c) {
    const Winograd v = winograd_view(c);
    const double rate = c.gpu->rate(c.type).flops_per_s / c.gpu->sms;
    const double ctas = c.groups * fused_blocks(c, v) * std::ceil(v.produced / kFusedChannels);
    const double depth = round_up(v.reduced, 8.0) + c.terms->fused_ramp_k;
    const double issued = shares_issue_slots(*c.gpu, false) ? c.terms->matmul.issue_share : 1.0;
    const double work = 2.0 * kFusedPoints * 32.0 * kFusedChannels * depth / rate / issued;
    const double in_turn = std::ceil(ctas / c.gpu->sms);
    const double tail = 1.0 + c.terms->fused_tail * std::max(2.0 - in_turn, 0.0);
    ConvTime t;
    t.algorithm = ConvAlgorithm::winograd;
    t.product.mapping.tile = {128, 32, 1};
    t.product.compute_s = in_turn * work / c.terms->fused_share * tail;
    t.macs = kFusedPoints * c.n * std::ceil(v.height / 2.0) * std::ceil(v.width / 2.0) * v.reduced *
             v.produced * c.groups;
    t.dram_bytes = c.bytes();
    t.body_s = joined3(t.product.compute_s / c.clock, c.dram_s(c.bytes())) + c.terms->fused_s;
    return t;
}

ConvTime nonfused_winograd(const Conv& c) {
    const Winograd v = winograd_view(c);
    const double points = c.r == 5.0 ? 64.0 : 36.0;
    const double tiles = c.n * std::ceil(v.height / 4.0) * std::ceil(v.width / 4.0);
    const bool weight = c.direction == Direction::bwd_weight;
    const Product product{points * c.groups,         weight ? c.k : tiles,
                          weight ? c.c : v.produced, weight ? tiles : v.reduced,
                          c.element_bytes,           c.element_bytes};
    ConvTime t;
    t.algorithm = ConvAlgorithm::winograd_nonfused;
    t.product =
        matmul_compute(*c.gpu, c.type, c.terms->matmul, product, vector_tiles(), one_split(), 8.0);
    t.macs = product.batch * product.m * product.n * product.k;
    const double middle = c.element_bytes * points * c.groups *
                          (tiles * v.reduced + tiles * v.produced + v.reduced * v.produced);
    const double l2 = middle < c.gpu->l2_bytes ? c.terms->transform_l2 : 1.0;
    t.dram_bytes = c.bytes();
    const double cost = c.terms->product_cost * (weight ? c.terms->weight_product : 1.0);
    const double product_s = std::max(t.product.compute_s * cost, c.pipe_s(t.macs));
    t.body_s = joined3(product_s / c.clock, c.dram_s(middle) * l2 * cost) +
               (c.bytes() + middle) * l2 / (c.terms->transform_share * c.gpu->dram_bytes_per_s) +
               c.terms->transform_s;
    return t;
}

// One channel a group has no product to speak of: a stencil bound by memory, whose re-read halo
// the caches absorb.
ConvTime depthwise(const Conv& c) {
    const double rate = c.gpu->rate(c.type).flops_per_s;
    const double vector = c.tensor ? rate / 8.0 : rate;
    ConvTime t;
    t.algorithm = ConvAlgorithm::depthwise;
    t.macs = c.macs();
    t.dram_bytes = c.bytes();
    t.product.compute_s = 2.0 * c.macs() / (0.5 * vector);
    t.body_s = joined3(t.product.compute_s / c.clock, c.dram_s(c.bytes()));
    return t;
}

Conv view(const Gpu& gpu, DataType type, const ConvTerms& terms, const ConvShape& shape,
          Direction direction, double element_bytes, bool transposes, bool early) {
    const auto d = [](Count value) { return static_cast<double>(value); };
    const double groups = d(shape.groups);
    const bool overhangs = shape.pad.h > shape.dilation.h * (shape.r - 1) ||
                           shape.pad.w > shape.dilation.w * (shape.s - 1);
    const Phases phases = phases_of(shape, overhangs);
    return {&gpu,
            type,
            &terms,
            d(shape.n),
            d(shape.c) / groups,
            d(shape.h),
            d(shape.w),
            d(shape.k) / groups,
            d(shape.r),
            d(shape.s),
            d(shape.p()),
            d(shape.q()),
            groups,
            d(shape.stride.h) * d(shape.stride.w),
            phases.count,
            phases.taps,
            phases.pixels,
            overhangs,
            direction,
            element_bytes,
            gpu.rate(type).pipe == Pipe::tensor,
            transposes,
            early,
            d(shape.depth),
            d(shape.stride.h),
            shape.dilation != Extent2{1, 1}};
}

} // namespace

bool has_winograd(DataType type) {
    return storage_bits(type) == 16 || storage_bits(type) == 32;
}

std::string_view conv_algorithm_name(ConvAlgorithm algorithm) {
    constexpr std::array<std::string_view, 5> kNames = {"implicit GEMM", "Winograd F(2x2) fused",
                                                        "Winograd F(4x4) non-fused", "depthwise",
                                                        "columns, scattered (col2im)"};
    return kNames[static_cast<std::size_t>(algorithm)];
}

namespace {

// The least over the algorithms, at the clock of the view.
ConvTime best_of(const Conv& c, const ConvShape& shape, bool first_library) {
    const Direction direction = c.direction;
    ConvTime best;
    if (c.groups > 1.0 && c.c == 1.0) {
        best = depthwise(c);
    } else {
        best = implicit_gemm(c);
        if (direction == Direction::bwd_data && c.c <= kFewChannels && !inserts_zeros(c)) {
            const ConvTime t = scattered_columns(c);
            best = t.body_s < best.body_s ? t : best;
        }
        // Forward in three dimensions libraries have no Winograd.
        const bool plain = c.stride_area == 1.0 && shape.dilation == Extent2{1, 1} && !c.tensor &&
                           has_winograd(c.type) &&
                           (c.depth == 1.0 || direction == Direction::bwd_data);
        const bool three = c.r == 3.0 && c.s == 3.0;
        const bool five = c.r == 5.0 && c.s == 5.0;
        if (plain && three && direction != Direction::bwd_weight) {
            const ConvTime t = fused_winograd(c);
            best = t.body_s < best.body_s ? t : best;
        }
        const bool either = !first_library || direction != Direction::bwd_weight;
        if (plain && (three || five) && either) {
            const ConvTime t = nonfused_winograd(c);
            best = t.body_s < best.body_s ? t : best;
        }
    }
    return best;
}

} // namespace

ConvTime conv_time(const Gpu& gpu, DataType type, const ConvTerms& terms, const ConvShape& shape,
                   Direction direction, double element_bytes, bool first_library, bool transposes,
                   bool early) {
    Conv c = view(gpu, type, terms, shape, direction, element_bytes, transposes, early);
    ConvTime best = best_of(c, shape, first_library);
    c.clock = clock_share(terms.matmul, best.body_s);
    if (c.clock < 1.0) {
        best = best_of(c, shape, first_library);
    }
    best.product.clock_share = c.clock;
    return best;
}

} // namespace eyeroof::model
