#include "model/gpu/matmul.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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
constexpr double kAlignmentPower = 0.25; // of the share of a whole load that rows allow

struct Candidate {
    const Gpu* gpu;
    const MatmulTerms* terms;
    const Product* product;
    CtaTile tile;
    int splits;
    bool tensor;
    double rate;   // FLOP/s of one SM
    double k_step; // elements of k that a warp takes at once
};

double resident_share(const CtaTile& tile) {
    const double outputs = static_cast<double>(tile.tm) * tile.tn * (tile.slices > 1 ? 4.0 : 1.0);
    return std::min(outputs, kAccumulators) / kAccumulators;
}

double ctas_of(const Product& p, const CtaTile& tile, int splits) {
    return p.batch * std::ceil(p.m / tile.tm) * std::ceil(p.n / tile.tn) * splits;
}

// Tile work, waves and latency hiding; see matmul_time.
double compute_seconds(const Candidate& c) {
    const double tm = c.tile.tm;
    const double tn = c.tile.tn;
    const double step = c.k_step * c.tile.slices;
    const double k = std::ceil(c.product->k / c.splits);
    const double work = 2.0 * tm * tn * (std::ceil(k / step) * step + c.terms->ramp_k) / c.rate;
    const double intensity = tm * tn / (tm + tn);
    const double efficiency =
        c.terms->peak_share * intensity / (intensity + c.terms->half_intensity);
    const double in_turn = std::ceil(ctas_of(*c.product, c.tile, c.splits) / c.gpu->sms);
    const double share = std::min(in_turn, static_cast<double>(resident_ctas(c.tile, c.tensor))) *
                         resident_share(c.tile);
    const double hidden =
        share * (1.0 + c.terms->ramp_occupancy) / (share + c.terms->ramp_occupancy);
    const double slices = c.tile.slices > 1 ? 1.0 + c.terms->slice_cost : 1.0;
    const double issued = shares_issue_slots(c.gpu->arch) ? c.terms->issue_share : 1.0;
    return in_turn * work / efficiency / hidden * slices / issued;
}

// Compulsory bytes, a part of them from L2, and the partial sums of split-k.
double dram_seconds(const Candidate& c) {
    const Product& p = *c.product;
    const double bytes = p.batch * (p.in_bytes * (p.m * p.k + p.n * p.k) + p.out_bytes * p.m * p.n);
    const double sums = c.splits > 1 ? kSplitSumBytes * p.batch * p.m * p.n * c.splits : 0.0;
    const double resident = resident_of(*c.gpu, *c.terms, p);
    const double bandwidth = c.gpu->dram_bytes_per_s;
    const double per_byte = (1.0 - resident) / (c.terms->dram_share * bandwidth) +
                            resident / (c.terms->resident_gain * l2_bandwidth(*c.gpu));
    return (bytes + sums) * per_byte;
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
        deep * (c.tile.tm + c.tile.tn) / c.terms->l2_share / l2_bandwidth(*c.gpu);
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

MatmulTime time_of(const Candidate& c) {
    MatmulTime t;
    t.mapping = {c.tile, c.splits};
    const double aligned = c.tensor ? alignment_share(c.product->k, c.product->in_bytes) : 1.0;
    const double compute = compute_seconds(c) / aligned;
    const double l2 = l2_seconds(c);
    t.dram_s = dram_seconds(c);
    t.clock_share = clock_share(*c.terms, joined(compute, t.dram_s, l2, c.terms->overlap));
    t.compute_s = compute / t.clock_share;
    t.l2_s = l2 / t.clock_share;
    t.split_s = c.splits > 1 ? c.terms->split_s : 0.0;
    t.body_s = joined(t.compute_s, t.dram_s, t.l2_s, c.terms->overlap) + t.split_s;
    return t;
}

Candidate candidate(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                    const Product& product) {
    const Rate& rate = gpu.rate(type);
    const bool tensor = rate.pipe == Pipe::tensor;
    return {&gpu, &terms, &product, {}, 1, tensor, rate.flops_per_s / gpu.sms, tensor ? 32.0 : 8.0};
}

} // namespace

bool shares_issue_slots(GpuArch arch) {
    return arch == GpuArch::kepler || arch == GpuArch::maxwell || arch == GpuArch::pascal;
}

double alignment_share(double k, double element_bytes) {
    const double row_bytes = k * element_bytes;
    double aligned = kWholeLoad;
    while (aligned > element_bytes && std::fmod(row_bytes, aligned) != 0.0) {
        aligned /= 2.0;
    }
    return std::pow(std::max(aligned, element_bytes) / kWholeLoad, kAlignmentPower);
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

std::vector<CtaTile> library_tiles(GpuArch arch, bool batched, bool tensor) {
    if (tensor) {
        return {{256, 128}, {128, 256}, {128, 128}, {256, 64}, {64, 256}, {128, 64},
                {64, 128},  {64, 64},   {32, 64},   {64, 32},  {32, 128}, {128, 32}};
    }
    const bool old = arch == GpuArch::kepler || arch == GpuArch::maxwell || arch == GpuArch::pascal;
    const bool middle = arch == GpuArch::volta || arch == GpuArch::turing;
    if (batched && old) {
        return {{64, 128}};
    }
    if (batched && middle) {
        return {{64, 64}, {64, 128}, {128, 32}, {32, 128}};
    }
    if (batched) {
        return {{128, 128}};
    }
    if (old) {
        return {{128, 32}, {64, 64}, {32, 128}};
    }
    return {{128, 128}, {64, 128},   {64, 64},    {32, 128},
            {128, 32},  {32, 32, 4}, {32, 64, 4}, {32, 128, 4}};
}

std::vector<int> library_splits(bool batched) {
    return batched ? std::vector<int>{1} : std::vector<int>{1, 2, 3, 4, 6, 8, 12, 16};
}

double clock_share(const MatmulTerms& terms, double body_s) {
    return terms.sustained_clock + (1.0 - terms.sustained_clock) / (1.0 + body_s / terms.settle_s);
}

namespace {

// Activations arrive in 16 bits; a kernel of its own casts them to fp8 before the product.
double quantise_seconds(const Gpu& gpu, DataType type, const MatmulTerms& terms, const Product& p) {
    if (type != DataType::fp8) {
        return 0.0;
    }
    constexpr double kReadAndWritten = 3.0; // bytes an element
    return terms.quantise_s + terms.quantise_pass * kReadAndWritten * p.batch * p.m * p.k /
                                  (terms.dram_share * gpu.dram_bytes_per_s);
}

} // namespace

MatmulTime matmul_time(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                       const Product& product, const std::vector<CtaTile>& tiles,
                       const std::vector<int>& splits) {
    MatmulTime best;
    best.body_s = std::numeric_limits<double>::infinity();
    Candidate c = candidate(gpu, type, terms, product);
    for (const CtaTile& tile : tiles) {
        for (const int s : splits) {
            c.tile = tile;
            c.splits = s;
            const MatmulTime t = time_of(c);
            best = t.body_s < best.body_s ? t : best;
        }
    }
    best.body_s += quantise_seconds(gpu, type, terms, product);
    return best;
}

MatmulTime matmul_compute(const Gpu& gpu, DataType type, const MatmulTerms& terms,
                          const Product& product, const std::vector<CtaTile>& tiles,
                          const std::vector<int>& splits, double k_step) {
    MatmulTime best;
    best.body_s = std::numeric_limits<double>::infinity();
    Candidate c = candidate(gpu, type, terms, product);
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
    return best;
}

} // namespace eyeroof::model
