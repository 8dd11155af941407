#include "model/gpu/miopen.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace eyeroof::model {

namespace {

constexpr double kLeastDepth = 32.0;  // of a part of k
constexpr double kPartSumBytes = 8.0; // written and read in fp32
constexpr double kLoadBytes = 16.0;   // bytes
// Of the peak that packed fp16 on the vector lanes reaches beside fp32: with the same constants,
// 1,200 forward convolutions and data gradients of MI50 and MI60 were predicted at 0.81 to 0.86 of
// the measured time in fp16, and 1,900 at 1.08 to 1.12 in fp32 (ROCm/MIOpen@2d1fd997).
constexpr double kPackedShare = 0.75;
// Further passes over the gradient of the input, of 1 x 1 filters with strides on matrix cores: it
// is filled with zeros first, and with channels first changes its layout twice as well. The median
// of 162 layers with channels last and of 540 with channels first, of MI100 and MI250X
// (ROCm/MIOpen@2d1fd997): 1.1 and 3.4 passes at the data sheet's bandwidth.
constexpr double kFillPasses = 1.0;
constexpr double kScatterPasses = 3.0;
constexpr double kColumnPasses = 2.0; // columns are written and read

constexpr std::array<CtaTile, 17> kMiopenTiles = {{{256, 128},
                                                   {128, 256},
                                                   {256, 64},
                                                   {64, 256},
                                                   {256, 32},
                                                   {32, 256},
                                                   {128, 128},
                                                   {128, 64},
                                                   {64, 128},
                                                   {128, 32},
                                                   {32, 128},
                                                   {64, 64},
                                                   {64, 32},
                                                   {32, 64},
                                                   {64, 16},
                                                   {16, 64},
                                                   {32, 32}}};
constexpr std::array<int, 7> kMiopenSplits = {1, 2, 4, 8, 16, 32, 64};

struct MiopenCall {
    const Gpu& gpu;
    const MiopenTerms& terms;
    double rate;     // FLOP/s of a CU
    double clock_hz; // of the pipe
    Product product;
    double dram_s = 0.0;    // of the compulsory bytes
    double cost = 1.0;      // of a product, by direction and alignment
    double unaligned = 1.0; // of it, what channels cost that do not fill a load
    double bytes_per_s = 1.0;
    double extra_s = 0.0; // further passes, of candidates that need them
};

double ceil_of(Count a, Count b) {
    return static_cast<double>((a + b - 1) / b);
}

bool is_strided_pointwise(const ConvShape& s, Direction direction) {
    return direction == Direction::bwd_data && s.r == 1 && s.s == 1 &&
           (s.stride.h > 1 || s.stride.w > 1);
}

// A gradient into columns, one for every tap, which another kernel adds up (GemmBwdRest).
Product columns_of(const ConvShape& s, double element_bytes) {
    const auto d = [](Count v) { return static_cast<double>(v); };
    const double groups = d(s.groups);
    return {groups,
            d(s.n) * d(s.p()) * d(s.q()),
            d(s.c) / groups * d(s.r) * d(s.s),
            d(s.k) / groups,
            element_bytes,
            element_bytes};
}

// `lanes`: GPUs without matrix cores, whose kernels multiply every position of a 1 x 1 filter's
// gradient, also those that the stride leaves zero: 194 such layers of MI50 and MI60 took 3 times
// what a quarter of the positions does (ROCm/MIOpen@2d1fd997).
Product implicit_of(const ConvShape& s, Direction direction, double element_bytes, bool lanes) {
    const auto d = [](Count v) { return static_cast<double>(v); };
    const double groups = d(s.groups);
    const double c = d(s.c) / groups;
    const double k = d(s.k) / groups;
    const double pixels = d(s.n) * d(s.p()) * d(s.q());
    Product p{groups, pixels, k, c * d(s.r) * d(s.s), element_bytes, element_bytes};
    if (direction == Direction::bwd_data) {
        p.batch = groups * d(std::min(s.r, s.stride.h)) * d(std::min(s.s, s.stride.w));
        p.m = d(s.n) * ceil_of(s.h, s.stride.h) * ceil_of(s.w, s.stride.w);
        p.n = c;
        p.k = k * ceil_of(s.r, s.stride.h) * ceil_of(s.s, s.stride.w);
        if (lanes && is_strided_pointwise(s, direction)) {
            p.m = d(s.n) * d(s.h) * d(s.w);
        }
    } else if (direction == Direction::bwd_weight) {
        p.m = k;
        p.n = c * d(s.r) * d(s.s);
        p.k = pixels;
    }
    return p;
}

double joined_pair(double a, double b, double power) {
    const double most = std::max(a, b);
    return most * std::pow(std::pow(a / most, power) + std::pow(b / most, power), 1.0 / power);
}

// Factors of a kernel's time over what the pipe's peak would take, by mechanism.
struct MiopenFactors {
    double ramp = 1.0, loads = 1.0, waves = 1.0, alignment = 1.0;
    bool fills = true; // the CTAs fill the GPU: then it is the last wave that does not
};

double tile_seconds(const MiopenCall& c, const CtaTile& tile, int splits,
                    MiopenFactors* factors = nullptr) {
    const double tm = tile.tm;
    const double tn = tile.tn;
    const double intensity = tm * tn / (tm + tn);
    const double efficiency = c.terms.peak_share * intensity / (intensity + c.terms.half_intensity);
    const double ctas =
        c.product.batch * std::ceil(c.product.m / tm) * std::ceil(c.product.n / tn) * splits;
    const double turns = ctas / c.gpu.sms;
    const double in_turn =
        c.terms.whole_waves * std::ceil(turns) + (1.0 - c.terms.whole_waves) * std::max(turns, 1.0);
    const double depth = std::ceil(c.product.k / splits) + c.terms.ramp_k;
    const double work =
        2.0 * tm * tn * depth / (c.rate * efficiency) + c.terms.ramp_cycles / c.clock_hz;
    if (factors != nullptr) {
        const double k = std::max(std::ceil(c.product.k / splits), 1.0);
        *factors = {work * c.rate * efficiency / (2.0 * tm * tn * k), 1.0 / efficiency,
                    in_turn / turns, c.unaligned, turns >= 1.0};
    }
    return c.cost * in_turn * work;
}

// The largest of what a product's kernel takes beyond its multiplications.
std::string_view miopen_loss(const MiopenCall& c, const MatmulTime& t) {
    MiopenFactors f;
    tile_seconds(c, t.mapping.tile, t.mapping.splits, &f);
    const std::array<std::pair<double, std::string_view>, 4> inside = {
        {{f.ramp, "CTA prologue and epilogue"},
         {f.loads, "operand loads"},
         {f.waves, f.fills ? "tail effect" : "occupancy"},
         {f.alignment, "unaligned channels"}}};
    const auto most = std::max_element(inside.begin(), inside.end());
    const double lost_s = t.compute_s * (1.0 - 1.0 / std::max(most->first, 1.0));
    return t.split_s > lost_s ? "split-k sum" : most->second;
}

void take_products(const MiopenCall& c, ConvTime& best) {
    const double sums = kPartSumBytes * c.product.batch * c.product.m * c.product.n;
    for (const CtaTile& tile : kMiopenTiles) {
        for (const int splits : kMiopenSplits) {
            if (splits > 1 && c.product.k / splits < kLeastDepth) {
                break;
            }
            MatmulTime t;
            t.mapping = {tile, splits};
            t.compute_s = tile_seconds(c, tile, splits);
            t.dram_s = c.dram_s;
            t.split_s = splits > 1 ? c.terms.split_s + sums * splits / c.bytes_per_s : 0.0;
            t.body_s = joined_pair(t.compute_s, t.dram_s, c.terms.overlap) + t.split_s + c.extra_s;
            if (t.body_s < best.body_s) {
                t.loss = miopen_loss(c, t);
                best.product = t;
                best.body_s = t.body_s;
            }
        }
    }
}

// F(2x2,3x3) on the vector lanes: 16 products over tiles of 2 x 2 pixels in place of 36.
void take_winograd(const MiopenCall& c, const ConvShape& s, Direction direction, double lanes,
                   ConvTime& best) {
    constexpr double kPoints = 16.0;
    constexpr double kReduced = 4.0;   // channels that are taken at once
    constexpr double kProduced = 16.0; // and that are made at once
    const bool data = direction == Direction::bwd_data;
    const double pixels =
        data ? ceil_of(s.h, 2) * ceil_of(s.w, 2) : ceil_of(s.p(), 2) * ceil_of(s.q(), 2);
    const double groups = static_cast<double>(s.groups);
    const double in = (data ? static_cast<double>(s.k) : static_cast<double>(s.c)) / groups;
    const double out = (data ? static_cast<double>(s.c) : static_cast<double>(s.k)) / groups;
    const double macs = kPoints * static_cast<double>(s.n) * pixels * groups *
                        std::ceil(in / kReduced) * kReduced * std::ceil(out / kProduced) *
                        kProduced;
    const double compute_s = 2.0 * macs / (c.terms.winograd_share * lanes);
    const double body_s = joined_pair(compute_s, c.dram_s, c.terms.overlap) + c.terms.winograd_s;
    if (body_s < best.body_s) {
        best.algorithm = ConvAlgorithm::winograd;
        best.product = {};
        best.product.mapping.tile = {32, 32, 1};
        best.product.compute_s = compute_s;
        best.product.dram_s = c.dram_s;
        best.macs = macs;
        best.body_s = body_s;
    }
}

double passes_of(const MiopenTerms& terms, Direction direction) {
    return direction == Direction::fwd        ? terms.fwd_layout
           : direction == Direction::bwd_data ? terms.data_layout
                                              : terms.weight_layout;
}

double direction_cost_of(const MiopenTerms& terms, Direction direction) {
    return direction == Direction::fwd        ? 1.0
           : direction == Direction::bwd_data ? terms.data_cost
                                              : terms.weight_cost;
}

double unaligned_cost_of(const MiopenTerms& terms, const ConvShape& s, Direction direction,
                         double element_bytes) {
    const Count reduced = (direction == Direction::bwd_data ? s.k : s.c) / s.groups;
    const bool whole = std::fmod(static_cast<double>(reduced) * element_bytes, kLoadBytes) == 0.0;
    return whole ? 1.0 : 1.0 + terms.unaligned_cost;
}

// The peak of the vector lanes, where the matrix cores serve the type too.
double lanes_flops(const Gpu& gpu, DataType type) {
    const double single = 2.0 * gpu.fp32_lanes * gpu.sms * gpu.boost_hz;
    const double rate = gpu.rate(type).flops_per_s;
    return type == DataType::fp32 ? std::min(single, rate) : rate;
}

// At the share `clock` of the boost clock.
ConvTime miopen_at(const Gpu& gpu, DataType type, const ConvTerms& conv, const ConvShape& shape,
                   Direction direction, double element_bytes, bool channels_first, double clock) {
    const MiopenTerms& terms = conv.miopen;
    const auto d = [](Count v) { return static_cast<double>(v); };
    const Rate& rate = gpu.rate(type);
    const bool lanes = rate.pipe != Pipe::tensor;
    const bool cores = gpu.rate(DataType::fp16).pipe == Pipe::tensor; // fp32's, too
    const double packed = lanes && element_bytes < 4.0 ? kPackedShare : 1.0;
    const double tensors = element_bytes * (d(shape.n) * d(shape.c) * d(shape.h) * d(shape.w) +
                                            d(shape.n) * d(shape.k) * d(shape.p()) * d(shape.q()));
    const double weights =
        element_bytes * d(shape.c) / d(shape.groups) * d(shape.k) * d(shape.r) * d(shape.s);
    MiopenCall call{gpu, terms, packed * clock * rate.flops_per_s / gpu.sms,
                    clock * pipe_clock_hz(gpu, type),
                    implicit_of(shape, direction, element_bytes, !cores)};
    call.bytes_per_s = terms.dram_share * gpu.dram_bytes_per_s;
    call.dram_s = (tensors + weights) / call.bytes_per_s;
    call.unaligned = unaligned_cost_of(terms, shape, direction, element_bytes);
    call.cost = direction_cost_of(terms, direction) * call.unaligned;

    ConvTime best;
    best.body_s = std::numeric_limits<double>::infinity();
    best.macs = d(shape.n) * d(shape.p()) * d(shape.q()) * d(shape.k) * d(shape.c) /
                d(shape.groups) * d(shape.r) * d(shape.s);
    best.dram_bytes = tensors + weights;
    const double input =
        element_bytes * d(shape.n) * d(shape.c) * d(shape.h) * d(shape.w) / call.bytes_per_s;
    if (is_strided_pointwise(shape, direction) && cores) {
        call.extra_s = input * (channels_first ? kScatterPasses : kFillPasses);
    }
    take_products(call, best);
    if (direction == Direction::bwd_data && shape.r * shape.s > 1) {
        MiopenCall columns = call;
        columns.product = columns_of(shape, element_bytes);
        columns.extra_s = kColumnPasses * element_bytes * columns.product.batch *
                          columns.product.m * columns.product.n / call.bytes_per_s;
        take_products(columns, best);
    }
    if (channels_first) {
        best.body_s +=
            2.0 * passes_of(terms, direction) * tensors / call.bytes_per_s + terms.layout_s;
    }
    // With channels last MI100 and MI250X have none of them in 291 rows (ROCm/MIOpen@2d1fd997).
    const bool reads = channels_first || !cores;
    const bool plain = shape.stride == Extent2{1, 1} && shape.dilation == Extent2{1, 1} &&
                       shape.r == 3 && shape.s == 3 && direction != Direction::bwd_weight;
    if (plain && reads && rate.pipe != Pipe::tensor) {
        take_winograd(call, shape, direction, packed * clock * lanes_flops(gpu, type), best);
    }
    best.passes = channels_first && best.algorithm == ConvAlgorithm::implicit_gemm;
    best.product.clock_share = clock;
    return best;
}

} // namespace

ConvTime miopen_time(const Gpu& gpu, DataType type, const ConvTerms& terms, const ConvShape& shape,
                     Direction direction, double element_bytes, bool channels_first) {
    const auto at = [&](double clock) {
        return miopen_at(gpu, type, terms, shape, direction, element_bytes, channels_first, clock);
    };
    const ConvTime boost = at(1.0);
    const double share = clock_share(terms.matmul, boost.body_s);
    return share < 1.0 ? at(share) : boost;
}

} // namespace eyeroof::model
