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
    double l2_bytes = 0.0;   // of all products whose tiles bound the time, through L2
    double tile_bytes = 0.0; // the same of all products
    Occupancy occupancy;     // of the last product
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

// What one product takes with any number of splits of its k.
struct Tiled {
    const Product* product;
    double tiles;   // of the result
    double macs;    // cycles of all units
    double aligned; // share of the pipe's rate that its rows allow
    double reads;   // elements that a CTA reads for a step of k
    TileNeeds needs;
};

std::vector<Tiled> tiled(const Machine3& g, const Form& form, const CtaTile& tile,
                         const std::vector<double>& aligned) {
    std::vector<Tiled> all;
    for (std::size_t i = 0; i < form.products.size(); ++i) {
        const Product& p = form.products[i];
        all.push_back({&p, std::ceil(p.m / tile.tm) * std::ceil(p.n / tile.tn),
                       p.batch * p.m * p.n * p.k / g.units, aligned[i],
                       tile_reads(*g.gpu, tile, g.tensor),
                       tile_needs(*g.gpu, g.type, tile, p.in_bytes)});
    }
    return all;
}

// Steps 1 to 6 of one algorithm with one tile and split; see gpu_chain.hpp.
Cycles cycles_of(const Machine3& g, const Form& form, const std::vector<Tiled>& products,
                 const KernelMapping& map) {
    Cycles c;
    const double per_sm = g.units / g.gpu->sms;
    for (const Tiled& t : products) {
        const Product& p = *t.product;
        const double depth = std::ceil(p.k / map.splits);
        const double ctas = p.batch * t.tiles * map.splits;
        const double work = static_cast<double>(map.tile.tm) * map.tile.tn * depth / per_sm;
        const double in_turn = std::ceil(ctas / form.ctas_share / g.gpu->sms) * form.ctas_share;
        c.at[0] += 1.0;
        c.at[1] += depth;
        const double least = std::max(depth, t.macs);
        c.at[2] += least;
        c.at[3] += std::max(least, in_turn * work / t.aligned);
        c.occupancy = occupancy_with(t.needs, in_turn);
        c.at[4] += std::max(least, in_turn * work / std::min(t.aligned, c.occupancy.busy));
        c.ctas = ctas / form.ctas_share;
        c.in_turn = in_turn / form.ctas_share;
        c.depth = depth;
        const double bytes = ctas * t.reads * depth * p.in_bytes;
        c.tile_bytes += bytes;
        if (form.reads_tiles) {
            c.l2 += bytes / g.l2_bytes_per_s * g.clock_hz;
            c.l2_bytes += bytes;
        }
    }
    c.dram = g.dram_s * g.clock_hz;
    c.at[5] = std::max({c.at[4], c.dram, c.l2});
    return c;
}

// An algorithm with every tile and every split.
struct Formed {
    Form form;
    std::vector<CtaTile> tiles;
    std::vector<int> splits;
};

// Every tile of any library that an SM of this GPU holds.
std::vector<CtaTile> all_tiles(const Gpu& gpu, DataType type, double in_bytes) {
    std::vector<CtaTile> all = every_tile(gpu.rate(type).pipe == Pipe::tensor);
    std::erase_if(
        all, [&](const CtaTile& tile) { return tile_needs(gpu, type, tile, in_bytes).ctas == 0; });
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
    f.has_winograd = !tensor && has_winograd(layer.types.input) && s.stride == Extent2{1, 1} &&
                     s.dilation == Extent2{1, 1} && s.r == s.s && (s.r == 3 || s.r == 5);
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

constexpr CtaTile kThin{32, 32, 1}; // of fused Winograd

// The library's own choice.
Formed library_form(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel) {
    if (!kernel.conv) {
        const KernelMapping& own = kernel.matmul->mapping;
        return {{kernel.products, 1.0, true}, {own.tile}, {own.splits}};
    }
    const ConvForms f = conv_forms(layer, gpu.rate(kernel.type).pipe == Pipe::tensor);
    const bool fused = kernel.conv->algorithm == ConvAlgorithm::winograd;
    const bool nonfused = kernel.conv->algorithm == ConvAlgorithm::winograd_nonfused;
    const KernelMapping own = fused ? KernelMapping{kThin, 1} : kernel.conv->product.mapping;
    return {fused ? f.fused : nonfused ? f.nonfused : f.implicit, {own.tile}, {own.splits}};
}

// Everything that the machine's chain ranges over.
std::vector<Formed> machine_forms(const Gpu& gpu, const Layer& layer, const KernelChoice& kernel) {
    const std::vector<int>& splits = library_splits(false);
    if (!kernel.conv) {
        return {{{kernel.products, 1.0, true},
                 all_tiles(gpu, kernel.type, kernel.products.back().in_bytes),
                 splits}};
    }
    const bool tensor = gpu.rate(kernel.type).pipe == Pipe::tensor;
    const ConvForms f = conv_forms(layer, tensor);
    const std::vector<CtaTile> every =
        all_tiles(gpu, kernel.type, bytes_per_element(layer.types.input));
    std::vector<Formed> all = {{f.implicit, every, splits}};
    if (f.has_fused) {
        all.push_back({f.fused, {kThin}, {1}});
    }
    if (f.has_winograd) {
        all.push_back({f.nonfused, every, splits});
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

// Calls use(cycles) for each tile and split of an algorithm.
template <class Use> void each_cycles(const Machine3& g, const Formed& formed, Use use) {
    std::vector<double> aligned;
    for (const Product& p : formed.form.products) {
        aligned.push_back(g.tensor && formed.form.reads_tiles ? aligned_rate(*g.gpu, p) : 1.0);
    }
    for (const CtaTile& tile : formed.tiles) {
        const std::vector<Tiled> products = tiled(g, formed.form, tile, aligned);
        for (const int splits : formed.splits) {
            use(cycles_of(g, formed.form, products, {tile, splits}));
        }
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
                Detail detail, GpuPrediction& p) {
    const Machine3 g = machine_of(gpu, work, kernel);
    p.units = g.units;
    p.clock_hz = g.clock_hz;
    p.macs = work.macs > 0 ? static_cast<double>(work.macs)
                           : std::max(1.0, static_cast<double>(work.flops) / 2.0);
    Cycles own;
    Cycles best;
    const bool stencil = kernel.conv && kernel.conv->algorithm == ConvAlgorithm::depthwise;
    const bool has_tiles = !kernel.fused && !stencil && kernel.kernel_class != KernelClass::memory;
    if (kernel.fused) {
        own = best = fused_cycles(g, p.macs);
    } else if (!has_tiles) {
        own = best = memory_cycles(g, layer, p.macs);
    } else {
        each_cycles(g, library_form(gpu, layer, kernel),
                    [&](const Cycles& cycles) { own = best = cycles; });
    }
    if (kernel.served && has_tiles && own.at[5] > p.time_s * g.clock_hz) {
        // The measured kernel has better tiles than those assumed.
        for (const Formed& form : machine_forms(gpu, layer, kernel)) {
            each_cycles(g, form, [&](const Cycles& cycles) { take_least(best, cycles); });
        }
        own = best;
    }
    p.step6_s = own.at[5] / g.clock_hz;
    p.step6_l2_s = own.l2 / g.clock_hz;
    p.l2_bytes = own.tile_bytes > 0.0 ? std::max(p.bytes, own.tile_bytes) : 0.0;
    p.time_s = std::max(p.time_s, p.step6_s);
    p.steps = chain_of(own, p.macs, p.time_s * g.clock_hz);
    if (detail == Detail::time) {
        return;
    }
    if (has_tiles) {
        for (const Formed& form : machine_forms(gpu, layer, kernel)) {
            each_cycles(g, form, [&](const Cycles& cycles) { take_least(best, cycles); });
        }
    }
    p.machine_step6_s = best.at[5] / g.clock_hz;
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
