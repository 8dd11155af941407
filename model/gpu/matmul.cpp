#include "model/gpu/matmul.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace eyeroof::model {

namespace {

constexpr double kAccumulators = 32768.0; // of an SM
constexpr int kMostResidentVector = 16;
constexpr int kMostResidentTensor = 8;
constexpr double kSplitSumBytes = 8.0; // a partial sum is written and read in fp32
constexpr double kConvSplitS = 2e-6;   // the kernel that adds the parts of a weight gradient
constexpr double kWholeLoad = 16.0;    // bytes that one thread loads at once
constexpr double kWeightsInTurn = 5.0; // see resident_of
constexpr double kMebi = 1024.0 * 1024.0;
constexpr double kPage = 2.0 * kMebi; // of device memory
constexpr double kTlbSharpness = 4.0;
constexpr double kPeakLost = 0.05;       // that no kernel reaches: not a tile's loads
constexpr double kAlignmentPower = 0.25; // of the share of a whole load that rows allow

struct Candidate {
    const Gpu* gpu;
    const MatmulTerms* terms;
    const Product* product;
    CtaTile tile;
    int splits;
    bool tensor;
    double rate;          // FLOP/s of one SM
    double clock_hz;      // of the pipe
    double k_step;        // elements of k that a warp takes at once
    double dram_start_s;  // before them, where DRAM serves them
    double dram_per_byte; // seconds of a compulsory byte
    bool shares_issue;    // FMAs leave no slot for loads and addresses
};

double resident_share(const CtaTile& tile) {
    const double outputs = static_cast<double>(tile.tm) * tile.tn * (tile.slices > 1 ? 4.0 : 1.0);
    return std::min(outputs, kAccumulators) / kAccumulators;
}

// 64 x 64 or thinner: few FMAs for each load.
bool is_thin(const CtaTile& tile) {
    constexpr int kThin = 64 * 64;
    return tile.tm * tile.tn <= kThin;
}

double ctas_of(const Product& p, const CtaTile& tile, int splits) {
    return p.batch * std::ceil(p.m / tile.tm) * std::ceil(p.n / tile.tn) * splits;
}

// Factors of a CTA's time over what the pipe's peak would take.
struct Factors {
    double ramp, loads, occupancy, issue;
};

// Tile work, waves and latency hiding; see matmul_time.
double compute_seconds(const Candidate& c, Factors* factors = nullptr) {
    const double tm = c.tile.tm;
    const double tn = c.tile.tn;
    const double step = c.k_step * c.tile.slices;
    const double k = std::ceil(c.product->k / c.splits);
    const double work = 2.0 * tm * tn * (std::ceil(k / step) * step + c.terms->ramp_k) / c.rate +
                        c.terms->ramp_cycles / c.clock_hz;
    const double intensity = tm * tn / (tm + tn);
    const double efficiency =
        c.terms->peak_share * intensity / (intensity + c.terms->half_intensity);
    const double in_turn = std::ceil(ctas_of(*c.product, c.tile, c.splits) / c.gpu->sms);
    const double share = std::min(in_turn, static_cast<double>(resident_ctas(c.tile, c.tensor))) *
                         resident_share(c.tile);
    const double hidden =
        share * (1.0 + c.terms->ramp_occupancy) / (share + c.terms->ramp_occupancy);
    const double slices = c.tile.slices > 1 ? 1.0 + c.terms->slice_cost : 1.0;
    const bool shared = c.shares_issue && (lanes_fill_issue(*c.gpu) || is_thin(c.tile));
    const double issued = shared ? c.terms->issue_share : 1.0;
    if (factors != nullptr) {
        *factors = {work * c.rate / (2.0 * tm * tn * k), 1.0 / efficiency, slices / hidden,
                    1.0 / issued};
    }
    return in_turn * work / efficiency / hidden * slices / issued;
}

// The largest of what a kernel takes beyond its multiplications; `cast_s`: before the product.
std::string_view loss_of(const Candidate& c, const MatmulTime& t, double cast_s) {
    Factors f{1.0, 1.0, 1.0, 1.0};
    compute_seconds(c, &f);
    const double loads = f.loads * (1.0 - kPeakLost);
    const std::array<std::pair<double, std::string_view>, 4> inside = {
        {{f.ramp, "CTA prologue and epilogue"},
         {loads, "operand loads"},
         {f.occupancy, "occupancy"},
         {f.issue, "instruction issue"}}};
    const auto most = std::max_element(inside.begin(), inside.end());
    const double lost_s = t.compute_s * (1.0 - 1.0 / std::max(most->first, 1.0));
    return cast_s > std::max(lost_s, t.split_s) ? "operand cast"
           : t.split_s > lost_s                 ? "split-k sum"
                                                : most->second;
}

// Compulsory bytes, a part of them from L2, and the partial sums of split-k.
double dram_seconds(const Candidate& c) {
    const Product& p = *c.product;
    const double bytes = p.batch * (p.in_bytes * (p.m * p.k + p.n * p.k) + p.out_bytes * p.m * p.n);
    const double sums = c.splits > 1 ? kSplitSumBytes * p.batch * p.m * p.n * c.splits : 0.0;
    return c.dram_start_s + (bytes + sums) * c.dram_per_byte;
}

double dram_seconds_per_byte(const Gpu& gpu, const MatmulTerms& terms, double resident) {
    const double sustained = terms.dram_share * gpu.dram_bytes_per_s;
    const double from_l2 = std::max(terms.resident_gain * l2_bandwidth(gpu), sustained);
    return (1.0 - resident) / sustained + resident / from_l2;
}

// Share of the weights that the CTAs of the next row of tiles find no longer in L2.
double reread_share(const Candidate& c) {
    const Product& p = *c.product;
    const double wave = static_cast<double>(c.gpu->sms) * resident_ctas(c.tile, c.tensor);
    const double across = std::min(1.0, std::ceil(p.n / c.tile.tn) / wave);
    const double row = std::ceil(p.k / c.splits) * p.in_bytes;
    const double between = c.terms->reuse * row * (p.n * across + c.tile.tm);
    const double fits = l2_reach_bytes(*c.gpu) / between;
    return 1.0 / (1.0 + fits * fits);
}

// Share of an SM's loads whose pages its TLB does not hold: each row of k lies on pages of its own.
double tlb_share(const Candidate& c) {
    const Product& p = *c.product;
    const double in_turn = std::ceil(ctas_of(p, c.tile, c.splits) / c.gpu->sms);
    const double held = std::min(in_turn, static_cast<double>(resident_ctas(c.tile, c.tensor)));
    const double span = held * (c.tile.tm + c.tile.tn) * std::min(p.k * p.in_bytes, kPage);
    const double fits = c.terms->tlb_reach_mib * kMebi / span;
    return 1.0 / (1.0 + std::pow(fits, kTlbSharpness));
}

// Tiles from L2, slower beyond the TLB's reach; weights that are no longer there come from DRAM
// again, in short rows. Vector products only: tensor cores' tiles reuse four times as much.
double l2_seconds(const Candidate& c) {
    const Product& p = *c.product;
    const double deep = ctas_of(p, c.tile, c.splits) * std::ceil(p.k / c.splits) * p.in_bytes;
    const double through_s =
        deep * tile_reads(*c.gpu, c.tile, c.tensor) / c.terms->l2_share / tile_bandwidth(*c.gpu);
    if (c.tensor) {
        return through_s;
    }
    const double again_s =
        deep * c.tile.tn * reread_share(c) / c.terms->scattered_dram / c.gpu->dram_bytes_per_s;
    return through_s * (1.0 + c.terms->tlb_cost * tlb_share(c)) + again_s;
}

double joined(double a, double b, double c, double p) {
    const double most = std::max({a, b, c, std::numeric_limits<double>::min()});
    return most *
           std::pow(std::pow(a / most, p) + std::pow(b / most, p) + std::pow(c / most, p), 1.0 / p);
}

// `aligned`: alignment_share on tensor cores, else 1. Nothing where the longest part alone takes
// `most` or more.
std::optional<MatmulTime> time_of(const Candidate& c, double aligned, double most) {
    MatmulTime t;
    t.mapping = {c.tile, c.splits};
    t.dram_s = dram_seconds(c);
    const double compute = compute_seconds(c) / aligned;
    if (std::max(compute, t.dram_s) >= most) {
        return std::nullopt;
    }
    const double l2 = l2_seconds(c);
    if (l2 >= most) {
        return std::nullopt;
    }
    t.split_s = c.splits > 1 ? c.terms->split_s : 0.0;
    const double at_boost = joined(compute, t.dram_s, l2, c.terms->overlap);
    constexpr double kRounding = 1e-9; // a clock below boost takes longer
    if (at_boost + t.split_s > most * (1.0 + kRounding)) {
        return std::nullopt;
    }
    t.clock_share = clock_share(*c.terms, at_boost);
    t.compute_s = compute / t.clock_share;
    t.l2_s = l2 / t.clock_share;
    t.body_s = joined(t.compute_s, t.dram_s, t.l2_s, c.terms->overlap) + t.split_s;
    return t;
}

// int8 of an early library has no tensor cores: four MACs a lane and cycle (DP4A).
Candidate candidate(const Gpu& gpu, DataType type, const MatmulTerms& terms, const Product& product,
                    bool early) {
    constexpr double kDp4a = 4.0;
    const Rate& rate = gpu.rate(type);
    const bool dp4a = early && type == DataType::int8;
    const bool tensor = rate.pipe == Pipe::tensor && !dp4a;
    const double vector = kDp4a * gpu.rate(DataType::fp32).flops_per_s;
    const double flops = dp4a ? std::min(vector, rate.flops_per_s) : rate.flops_per_s;
    // Kernels of 4 bits reach less of their peak: 0.81 of fp8's share on B200 and GB200, by
    // products of 2^36 MAC and more (aisimulate 0.13.0.dev20261027).
    constexpr double kFourBits = 0.8;
    const bool four = gpu.compute_capability.starts_with("10.") && storage_bits(type) <= 4;
    const double share = !tensor                  ? 1.0
                         : is_narrow_float(type)  ? terms.fp8_share * (four ? kFourBits : 1.0)
                         : type == DataType::int8 ? terms.int8_share
                                                  : 1.0;
    const double resident = resident_of(gpu, terms, product);
    return {&gpu,
            &terms,
            &product,
            {},
            1,
            tensor,
            share * flops / gpu.sms,
            pipe_clock_hz(gpu, type),
            tensor ? 32.0 : 8.0,
            terms.dram_start_s * (1.0 - resident),
            dram_seconds_per_byte(gpu, terms, resident),
            !tensor && shares_issue_slots(gpu, early)};
}

} // namespace

double tile_reads(const Gpu& gpu, const CtaTile& tile, bool tensor) {
    const double longer = std::max(tile.tm, tile.tn);
    const double shorter = std::min(tile.tm, tile.tn);
    const bool clusters = gpu.arch == GpuArch::hopper || gpu.arch == GpuArch::blackwell;
    return tensor && clusters ? shorter + longer / 2.0 : shorter + longer;
}

bool shares_issue_slots(const Gpu& gpu, bool early) {
    return lanes_fill_issue(gpu) || (gpu.arch < GpuArch::volta && !early);
}

bool is_first_library(const Gpu& gpu, const Software& software) {
    return gpu.arch <= GpuArch::maxwell && software.library == Library::until_10;
}

double alignment_share(double k, double element_bytes) {
    // Scales of blocks lie in a tensor of their own: 4.25 bits are aligned as 4 are.
    const double own_bytes = std::exp2(std::floor(std::log2(element_bytes)));
    const double row_bytes = k * own_bytes;
    double aligned = kWholeLoad;
    while (aligned > own_bytes && std::fmod(row_bytes, aligned) != 0.0) {
        aligned /= 2.0;
    }
    return std::pow(std::max(aligned, own_bytes) / kWholeLoad, kAlignmentPower);
}

double aligned_rate(const Gpu& gpu, const Product& p) {
    constexpr double kSynchronous = 0.63;
    const double of_k = alignment_share(p.k, p.in_bytes);
    const bool one_column = p.n * p.out_bytes <= kWholeLoad; // no product of tiles
    const double all = one_column || gpu.arch == GpuArch::amd
                           ? of_k
                           : std::min(of_k, alignment_share(p.n, p.out_bytes));
    const bool copies = gpu.arch == GpuArch::hopper || gpu.arch == GpuArch::blackwell;
    return copies && all < 1.0 ? kSynchronous * all : all;
}

Waves waves_of(const Product& p, const KernelMapping& mapping, int sms) {
    Waves w;
    w.ctas = ctas_of(p, mapping.tile, mapping.splits);
    w.full = std::ceil(w.ctas / sms);
    w.efficiency = w.ctas / (w.full * sms);
    w.tile_efficiency =
        p.batch * p.m * p.n * mapping.splits / (w.ctas * mapping.tile.tm * mapping.tile.tn);
    return w;
}

int resident_ctas(const CtaTile& tile, bool tensor) {
    const int fit = static_cast<int>(std::floor(1.0 / resident_share(tile)));
    return std::clamp(fit, 1, tensor ? kMostResidentTensor : kMostResidentVector);
}

double resident_of(const Gpu& gpu, const MatmulTerms& terms, const Product& p) {
    const double room = terms.resident_l2 * l2_reach_bytes(gpu);
    if (room <= 0.0) {
        return 0.0;
    }
    const double weights = p.batch * p.in_bytes * p.n * p.k;
    const double others = p.batch * (p.in_bytes * p.m * p.k + p.out_bytes * p.m * p.n);
    const auto stays = [&](double bytes) {
        return 1.0 / (1.0 + std::pow(bytes / room, terms.resident_sharpness));
    };
    return (weights * stays(kWeightsInTurn * weights + others) + others * stays(weights + others)) /
           (weights + others);
}

namespace {

using Tiles = std::vector<CtaTile>;

const Tiles& tensor_tiles(GpuArch arch) {
    static const Tiles usual = {{256, 128}, {128, 256}, {128, 128}, {256, 64},
                                {64, 256},  {128, 64},  {64, 128},  {64, 64},
                                {32, 64},   {64, 32},   {32, 128},  {128, 32}};
    static const Tiles wide = {{256, 256}, {256, 128}, {128, 256}, {128, 128}, {256, 64},
                               {64, 256},  {128, 64},  {64, 128},  {64, 64},   {32, 64},
                               {64, 32},   {32, 128},  {128, 32}};
    return arch == GpuArch::blackwell ? wide : usual;
}

const Tiles& linear_tiles(const Gpu& gpu, bool early) {
    static const Tiles old = {{128, 32}, {64, 64}, {32, 128}};
    static const Tiles full = {{128, 128}, {64, 128},   {64, 64},    {32, 128},
                               {128, 32},  {32, 32, 4}, {32, 64, 4}, {32, 128, 4}};
    static const Tiles wide = {{128, 128},  {256, 64},   {64, 256},   {64, 128},
                               {128, 64},   {64, 64},    {32, 128},   {128, 32},
                               {32, 32, 4}, {32, 64, 4}, {32, 128, 4}};
    const bool before_volta = gpu.arch < GpuArch::volta;
    return before_volta && !early ? old : gpu.arch >= GpuArch::ada ? wide : full;
}

const Tiles& batched_tiles(const Gpu& gpu, bool early) {
    static const Tiles old = {{64, 128}};
    static const Tiles middle = {{64, 64}, {64, 128}, {128, 32}, {32, 128}};
    static const Tiles ampere = {{128, 128}};
    static const Tiles free = {{128, 128}, {256, 64}, {64, 256}, {128, 64}, {64, 128}, {64, 64},
                               {128, 32},  {32, 128}, {64, 32},  {32, 64},  {32, 32}};
    if (gpu.arch < GpuArch::volta) {
        return early ? middle : old;
    }
    return gpu.arch <= GpuArch::turing ? middle : gpu.arch == GpuArch::ampere ? ampere : free;
}

} // namespace

const std::vector<CtaTile>& library_tiles(const Gpu& gpu, bool batched, bool tensor, bool early) {
    return tensor    ? tensor_tiles(gpu.arch)
           : batched ? batched_tiles(gpu, early)
                     : linear_tiles(gpu, early);
}

const std::vector<CtaTile>& first_library_tiles() {
    static const Tiles tiles = {{128, 128}};
    return tiles;
}

const std::vector<int>& first_library_splits(const Product& product) {
    constexpr double kFarLonger = 32.0;
    return library_splits(product.k < kFarLonger * std::max(product.m, product.n));
}

const std::vector<CtaTile>& every_tile(bool tensor) {
    static const Tiles vector = {{128, 128}, {256, 64},   {64, 256},   {128, 64},   {64, 128},
                                 {64, 64},   {32, 128},   {128, 32},   {64, 32},    {32, 64},
                                 {32, 32},   {32, 32, 4}, {32, 64, 4}, {32, 128, 4}};
    return tensor ? tensor_tiles(GpuArch::blackwell) : vector;
}

const std::vector<int>& library_splits(bool batched) {
    static const std::vector<int> one = {1};
    static const std::vector<int> many = {1, 2, 3, 4, 6, 8, 12, 16};
    return batched ? one : many;
}

double clock_share(const MatmulTerms& terms, double body_s) {
    return terms.sustained_clock + (1.0 - terms.sustained_clock) / (1.0 + body_s / terms.settle_s);
}

namespace {

// What is likeliest where no library is named: types of 4 bits and of blocks are those of recent
// libraries, which cast in one kernel.
ByteCast resolved_cast(ByteCast cast, DataType type) {
    const bool recent = is_narrow_float(type) && type != DataType::fp8;
    return cast == ByteCast::usual && recent ? ByteCast::fused : cast;
}

// Activations arrive in 16 bits and are cast before the product, or their scales are given.
// `slow_passes`: of a slow conversion over the activations.
double cast_seconds(const Gpu& gpu, const MatmulTerms& terms, const Product& p, ByteCast cast,
                    double slow_passes = 1.0) {
    constexpr double kReadAndWritten = 3.0; // bytes an element
    const double elements = p.batch * p.m * p.k;
    const double pass_s = kReadAndWritten * elements / (terms.dram_share * gpu.dram_bytes_per_s);
    const double several_s = pass_s * terms.quantise_pass;
    switch (cast) {
    case ByteCast::usual:
    case ByteCast::kernels:
        return terms.quantise_s + several_s;
    case ByteCast::slow:
        return terms.quantise_s + std::hypot(pass_s, slow_passes * terms.cast_cycles * elements /
                                                         (gpu.sms * gpu.boost_hz));
    case ByteCast::given:
        return 0.0;
    case ByteCast::fused:
        break;
    }
    return terms.fused_cast_s + pass_s;
}

// int8 on DP4A is a plain call: nothing is cast or scaled.
double quantise_seconds(const Gpu& gpu, DataType type, const MatmulTerms& terms, const Product& p,
                        bool early, ByteCast cast) {
    // SGLang's int8 scales each row by its maximum, which a pass of its own finds: 4.5 cycles an
    // element on H100, where vLLM's fp8 before 0.15 takes 2.5 (aiconfigurator@095f58a51).
    constexpr double kInt8Passes = 2.0;
    if (is_narrow_float(type)) {
        return cast_seconds(gpu, terms, p, resolved_cast(cast, type));
    }
    if (type != DataType::int8 || early) {
        return 0.0;
    }
    const bool is_cast = cast == ByteCast::kernels || cast == ByteCast::slow;
    if (cast == ByteCast::given) {
        return 0.0;
    }
    return terms.int8_s + (is_cast ? cast_seconds(gpu, terms, p, cast, kInt8Passes) : 0.0);
}

} // namespace

namespace {

// Tensor-core kernels load and store what is not aligned to 16 bytes element by element: rows of
// the first operand (k elements) and of the result (n) at least once each. 96 products of 3137 x
// 3137 x 64 in bf16, and of 3137 x 64 x 3137, take 0.49 and 0.44 SM cycles for such an element on
// an H100, 0.8 and 0.55 on an MI300X (AMD-AGI/TraceLens@171dd747).
double unaligned_s(const Gpu& gpu, const Product& p) {
    constexpr double kElementCycles = 0.46;
    constexpr double kAmdElementCycles = 0.67;
    const auto odd = [](double elements, double bytes) {
        return bytes > 1.0 && std::fmod(elements * bytes, kWholeLoad) != 0.0;
    };
    const double loads = odd(p.k, p.in_bytes) ? p.m * p.k : 0.0;
    const double stores = odd(p.n, p.out_bytes) ? p.m * p.n : 0.0;
    const double cycles = gpu.arch == GpuArch::amd ? kAmdElementCycles : kElementCycles;
    return cycles * p.batch * (loads + stores) / (gpu.sms * gpu.boost_hz);
}

} // namespace

MatmulTime matmul_time(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                       const Product& product, const std::vector<CtaTile>& tiles,
                       const std::vector<int>& splits, bool early, ByteCast cast) {
    MatmulTime best;
    best.body_s = std::numeric_limits<double>::infinity();
    Candidate c = candidate(gpu, type, terms, product, early);
    const double aligned = c.tensor ? aligned_rate(gpu, product) : 1.0;
    for (const CtaTile& tile : tiles) {
        for (const int s : splits) {
            c.tile = tile;
            c.splits = s;
            const auto t = time_of(c, aligned, best.body_s);
            best = t && t->body_s < best.body_s ? *t : best;
        }
    }
    if (c.tensor) {
        best.body_s = std::max(best.body_s, unaligned_s(gpu, product));
    }
    const double cast_s = quantise_seconds(gpu, type, terms, product, early, cast);
    best.body_s += cast_s;
    c.tile = best.mapping.tile;
    c.splits = best.mapping.splits;
    best.loss = loss_of(c, best, cast_s);
    return best;
}

MatmulTime matmul_compute(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                          const Product& product, const std::vector<CtaTile>& tiles,
                          const std::vector<int>& splits, double k_step) {
    MatmulTime best;
    best.body_s = std::numeric_limits<double>::infinity();
    Candidate c = candidate(gpu, type, terms, product, false);
    c.k_step = k_step;
    for (const CtaTile& tile : tiles) {
        for (const int s : splits) {
            c.tile = tile;
            c.splits = s;
            MatmulTime t;
            t.mapping = {tile, s};
            t.compute_s = compute_seconds(c);
            const double sums = kSplitSumBytes * product.batch * product.m * product.n * s;
            t.split_s =
                s > 1 ? sums / (terms.dram_share * gpu.dram_bytes_per_s) + kConvSplitS : 0.0;
            t.body_s = t.compute_s + t.split_s;
            best = t.body_s < best.body_s ? t : best;
        }
    }
    c.tile = best.mapping.tile;
    c.splits = best.mapping.splits;
    best.loss = loss_of(c, best, 0.0);
    return best;
}

} // namespace eyeroof::model
