#include "model/gpu/gpu_chain.hpp"

#include "model/gpu/gpu_reasons.hpp"
#include "model/gpu/occupancy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eyeroof::model {

namespace {

// Cycles that steps 1 … 6 leave; index 0 is step 1.
struct Cycles {
    std::array<double, 6> at{};
    double dram = 0.0;
    double l2 = 0.0;
    double ctas = 0.0, in_turn = 0.0, depth = 0.0; // of the last product
    double l2_bytes = 0.0;                         // of all products
    Occupancy occupancy;                           // of the last product
};

struct Form { // an algorithm's products and what they share
    std::vector<Product> products;
    double ctas_share = 1.0; // products that one CTA computes together (fused Winograd: 16)
    bool reads_tiles = true; // every CTA reads its tiles of the operands through L2
};

struct Machine3 {
    const Gpu* gpu;
    double units; // MAC/cycle
    double clock_hz;
    double dram_s; // step 6 of the compulsory bytes
    double l2_bytes_per_s;
    double resident; // share of the operands that stays in L2
    bool tensor;
    DataType type;
};

// Steps 1 to 6 of one algorithm with one tile and split; see gpu_chain.hpp.
Cycles cycles_of(const Machine3& g, const Form& form, const KernelMapping& map) {
    Cycles c;
    const double per_sm = g.units / g.gpu->sms;
    for (const Product& p : form.products) {
        const double depth = std::ceil(p.k / map.splits);
        const double tiles = std::ceil(p.m / map.tile.tm) * std::ceil(p.n / map.tile.tn);
        const double ctas = p.batch * tiles * map.splits;
        const double work = static_cast<double>(map.tile.tm) * map.tile.tn * depth / per_sm;
        const double in_turn = std::ceil(ctas / form.ctas_share / g.gpu->sms) * form.ctas_share;
        const double aligned = g.tensor && form.reads_tiles ? aligned_rate(*g.gpu, p) : 1.0;
        c.at[0] += 1.0;
        c.at[1] += depth;
        const double least = std::max(depth, p.batch * p.m * p.n * p.k / g.units);
        c.at[2] += least;
        c.at[3] += std::max(least, in_turn * work / aligned);
        c.occupancy = occupancy_of(*g.gpu, g.type, map.tile, p.in_bytes, in_turn);
        c.at[4] += std::max(least, in_turn * work / std::min(aligned, c.occupancy.busy));
        c.ctas = ctas / form.ctas_share;
        c.in_turn = in_turn / form.ctas_share;
        c.depth = depth;
        if (form.reads_tiles) {
            const double bytes = ctas * tile_reads(*g.gpu, map.tile, g.tensor) * depth * p.in_bytes;
            c.l2 += bytes / g.l2_bytes_per_s * g.clock_hz;
            c.l2_bytes += bytes;
        }
    }
    c.dram = g.dram_s * g.clock_hz;
    c.at[5] = std::max({c.at[4], c.dram, c.l2});
    return c;
}

struct Formed {
    Form form;
    std::vector<KernelMapping> mappings;
};

// Every tile of any library that an SM of this GPU holds.
std::vector<KernelMapping> all_mappings(const Gpu& gpu, DataType type, double in_bytes) {
    std::vector<KernelMapping> all;
    const bool tensor = gpu.rate(type).pipe == Pipe::tensor;
    for (const CtaTile& tile : every_tile(tensor)) {
        if (occupancy_of(gpu, type, tile, in_bytes, 1.0).ctas == 0) {
            continue;
        }
        for (const int splits : library_splits(false)) {
            all.push_back({tile, splits});
        }
    }
    return all;
}

// The direct product of a convolution, its Winograd forms where they apply.
struct ConvForms {
    Form implicit, fused, nonfused;
    bool has_winograd = false;
    bool has_fused = false;
};

ConvForms conv_forms(const Layer& layer, bool tensor) {
    const auto& s = std::get<ConvShape>(layer.shape);
    const auto d = [](Count v) { return static_cast<double>(v); };
    const double g = d(s.groups);
    const double c = d(s.c) / g;
    const double k = d(s.k) / g;
    const double outputs = d(s.n) * d(s.p()) * d(s.q());
    const double taps = d(s.r) * d(s.s);
    const double bytes = bytes_per_element(layer.types.input);
    const bool data = layer.direction == Direction::bwd_data;
    const bool weight = layer.direction == Direction::bwd_weight;
    ConvForms f;
    const Product direct = weight ? Product{g, k, c * taps, outputs, bytes, bytes}
                           : data ? Product{g, outputs, c * taps, k, bytes, bytes}
                                  : Product{g, outputs, k, c * taps, bytes, bytes};
    f.implicit = {{direct}, 1.0, false};
    f.has_winograd = !tensor && s.stride == Extent2{1, 1} && s.dilation == Extent2{1, 1} &&
                     s.r == s.s && (s.r == 3 || s.r == 5);
    f.has_fused = f.has_winograd && s.r == 3 && !weight;
    const double in = data ? k : c;
    const double out = data ? c : k;
    const double height = data ? d(s.h) : d(s.p());
    const double width = data ? d(s.w) : d(s.q());
    const double tiles2 = d(s.n) * std::ceil(height / 2.0) * std::ceil(width / 2.0);
    f.fused = {{Product{16.0 * g, tiles2, out, in, bytes, bytes}}, 16.0, false};
    const double tiles4 = d(s.n) * std::ceil(height / 4.0) * std::ceil(width / 4.0);
    const double points = (s.r == 5 ? 64.0 : 36.0) * g;
    f.nonfused = {{weight ? Product{points, k, c, tiles4, bytes, bytes}
                          : Product{points, tiles4, out, in, bytes, bytes}},
                  1.0,
                  false};
    return f;
}

// The library's own choice first, then everything that the machine's chain ranges over.
std::vector<Formed> candidates_of(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel) {
    const bool tensor = gpu.rate(kernel.type).pipe == Pipe::tensor;
    if (!kernel.conv) {
        const Form form{kernel.products, 1.0, true};
        return {{form, {kernel.matmul->mapping}},
                {form, all_mappings(gpu, kernel.type, kernel.products.back().in_bytes)}};
    }
    const ConvForms f = conv_forms(layer, tensor);
    const std::vector<KernelMapping> every =
        all_mappings(gpu, kernel.type, bytes_per_element(layer.types.input));
    const bool fused = kernel.conv->algorithm == ConvAlgorithm::winograd;
    const bool nonfused = kernel.conv->algorithm == ConvAlgorithm::winograd_nonfused;
    const Form& own = fused ? f.fused : nonfused ? f.nonfused : f.implicit;
    const KernelMapping own_map =
        fused ? KernelMapping{{32, 32, 1}, 1} : kernel.conv->product.mapping;
    std::vector<Formed> all = {{own, {own_map}}, {f.implicit, every}};
    if (f.has_fused) {
        all.push_back({f.fused, {KernelMapping{{32, 32, 1}, 1}}});
    }
    if (f.has_winograd) {
        all.push_back({f.nonfused, every});
    }
    return all;
}

void take_least(Cycles& least, const Cycles& other) {
    for (std::size_t i = 0; i < least.at.size(); ++i) {
        least.at[i] = std::min(least.at[i], other.at[i]);
    }
    if (other.at[5] <= least.at[5]) {
        least.dram = other.dram;
        least.l2 = other.l2;
    }
}

// Operators without products: every element at once, a tree for reductions, then lanes and bytes.
Cycles memory_cycles(const Machine3& g, const Layer& layer, double macs) {
    Cycles c;
    const auto* rows = std::get_if<RowsShape>(&layer.shape);
    const bool reduces = rows != nullptr && (layer.op == Op::softmax || layer.op == Op::layernorm ||
                                             layer.op == Op::batchnorm);
    c.at[0] = 1.0;
    c.at[1] = reduces ? std::max(1.0, std::ceil(std::log2(static_cast<double>(rows->cols)))) : 1.0;
    c.at[2] = std::max(c.at[1], macs / g.units);
    c.at[3] = c.at[4] = c.at[2];
    c.dram = g.dram_s * g.clock_hz;
    c.at[5] = std::max(c.at[4], c.dram);
    return c;
}

// Several products in one kernel: every MAC at once, then the units, then the bytes. What tiles,
// waves and the units beside the tensor cores cost is in the kernel's own time.
Cycles fused_cycles(const Machine3& g, double macs) {
    Cycles c;
    c.at[0] = c.at[1] = 1.0;
    c.at[2] = c.at[3] = c.at[4] = std::max(1.0, macs / g.units);
    c.dram = g.dram_s * g.clock_hz;
    c.at[5] = std::max(c.at[4], c.dram);
    return c;
}

Chain chain_of(const Cycles& c, double macs, double time_cycles) {
    Chain chain;
    for (std::size_t i = 0; i < c.at.size(); ++i) {
        chain[i].macs_per_cycle = macs / c.at[i];
    }
    chain[6].macs_per_cycle = macs / std::max(time_cycles, c.at[5]);
    return chain;
}

// Share of all products' bytes that stays in L2 between calls.
double resident_of_all(const Gpu& gpu, const MatmulTerms& terms,
                       const std::vector<Product>& products) {
    double bytes = 0.0;
    double stays = 0.0;
    for (const Product& p : products) {
        const double own =
            p.batch * (p.in_bytes * (p.m * p.k + p.n * p.k) + p.out_bytes * p.m * p.n);
        bytes += own;
        stays += own * resident_of(gpu, terms, p);
    }
    return bytes > 0.0 ? stays / bytes : 0.0;
}

Machine3 machine_of(const Gpu& gpu, const Work& work, const KernelChoice& kernel) {
    Machine3 g{&gpu, 1.0, gpu.boost_hz, 0.0, 0.0, 0.0, false, kernel.type};
    double resident = kernel.memory.resident;
    if (kernel.kernel_class == KernelClass::memory) {
        g.units = static_cast<double>(gpu.sms) * gpu.fp32_lanes;
    } else {
        g.units = macs_per_cycle(gpu, kernel.type);
        g.clock_hz = pipe_clock_hz(gpu, kernel.type);
        g.tensor = gpu.rate(kernel.type).pipe == Pipe::tensor;
    }
    if (kernel.kernel_class == KernelClass::tensor_gemm) {
        resident = resident_of_all(gpu, gpu.calibration.tensor_gemm, kernel.products);
    }
    resident = kernel.fused ? kernel.fused->resident : resident;
    g.resident = resident;
    g.l2_bytes_per_s = l2_port_bandwidth(gpu);
    const double fastest_l2 = std::max(g.l2_bytes_per_s, gpu.dram_bytes_per_s);
    g.dram_s = static_cast<double>(work.bytes()) *
               ((1.0 - resident) / gpu.dram_bytes_per_s + resident / fastest_l2);
    if (kernel.memory.link_bytes_per_s > 0.0) {
        g.dram_s = kernel.memory.bytes / kernel.memory.link_bytes_per_s;
    }
    return g;
}

} // namespace

void set_chains(const Gpu& gpu, const Layer& layer, const Work& work, const KernelChoice& kernel,
                GpuPrediction& p) {
    const Machine3 g = machine_of(gpu, work, kernel);
    p.units = g.units;
    p.clock_hz = g.clock_hz;
    p.macs = work.macs > 0 ? static_cast<double>(work.macs)
                           : std::max(1.0, static_cast<double>(work.flops) / 2.0);
    Cycles own;
    Cycles best;
    const bool stencil = kernel.conv && kernel.conv->algorithm == ConvAlgorithm::depthwise;
    if (kernel.fused) {
        own = best = fused_cycles(g, p.macs);
    } else if (kernel.kernel_class == KernelClass::memory || stencil) {
        own = best = memory_cycles(g, layer, p.macs);
    } else {
        const std::vector<Formed> all = candidates_of(gpu, layer, kernel);
        own = best = cycles_of(g, all[0].form, all[0].mappings[0]);
        for (std::size_t i = 1; i < all.size(); ++i) {
            for (const KernelMapping& mapping : all[i].mappings) {
                take_least(best, cycles_of(g, all[i].form, mapping));
            }
        }
    }
    p.step6_s = own.at[5] / g.clock_hz;
    p.step6_l2_s = own.l2 / g.clock_hz;
    p.l2_bytes = own.l2_bytes > 0.0 ? std::max(p.bytes, own.l2_bytes) : 0.0;
    p.machine_step6_s = best.at[5] / g.clock_hz;
    p.time_s = std::max(p.time_s, p.step6_s);
    p.steps = chain_of(own, p.macs, p.time_s * g.clock_hz);
    // No kernel does without its launch, which adds to what bandwidth and tiles allow.
    const double best_s = std::min(p.time_s, p.machine_step6_s + p.launch_s);
    p.machine_steps = chain_of(best, p.macs, best_s * g.clock_hz);
    const NestCycles cycles = nest_cycles_of(p.steps, p.units, p.macs, std::max(own.dram, own.l2));
    p.limits = scaled(limits_of({cycles}), 1.0 / g.clock_hz);
    explain({own.ctas, own.in_turn, own.depth, own.dram / g.clock_hz, own.l2 / g.clock_hz,
             own.l2_bytes, g.l2_bytes_per_s, g.resident, own.occupancy},
            gpu, work, kernel, p);
}

} // namespace eyeroof::model
