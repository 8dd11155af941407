#include "model/gpu/gpu_reasons.hpp"

#include "base/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace eyeroof::model {

namespace {

constexpr double kMostly = 0.5;        // of the time, or of the units' peak
constexpr double kSaysAligned = 0.995; // what rounds to 100 % is not worth a word
constexpr double kJoinedPower = 3.0;   // of a convolution's compute and memory time

bool is_memory(const KernelChoice& kernel) {
    return kernel.kernel_class == KernelClass::memory;
}

bool is_stencil(const KernelChoice& kernel) {
    return kernel.conv && kernel.conv->algorithm == ConvAlgorithm::depthwise;
}

KernelMapping mapping_of(const KernelChoice& kernel) {
    return kernel.conv     ? kernel.conv->product.mapping
           : kernel.matmul ? kernel.matmul->mapping
                           : KernelMapping{};
}

double aligned_share(const Gpu& gpu, const KernelChoice& kernel) {
    return kernel.products.empty() || gpu.rate(kernel.type).pipe != Pipe::tensor
               ? 1.0
               : aligned_rate(gpu, kernel.products.back());
}

std::string rate_text(double bytes_per_s) {
    return format_si(bytes_per_s, "B/s");
}

std::string step1(const Work& work) {
    const double bytes = static_cast<double>(work.bytes());
    const double flops = static_cast<double>(work.flops);
    return fmt::format("{} over {} that must move at least: {:.4g} FLOP/B",
                       work.macs > 0 ? format_si(static_cast<double>(work.macs), "MAC", 4)
                                     : format_si(flops, "op", 4),
                       format_si(bytes, "B", 4), flops / std::max(bytes, 1.0));
}

std::string step2(const StepFacts& f, const KernelChoice& kernel) {
    if (kernel.fused) {
        return "every product at once: sums over keys or inner width can be split";
    }
    if (is_memory(kernel) || is_stencil(kernel)) {
        return "every element by itself; a reduction takes a tree of its row";
    }
    const KernelMapping m = mapping_of(kernel);
    const std::string split =
        m.splits > 1 ? fmt::format(", as k is split among {} CTAs", m.splits) : "";
    return fmt::format("a CTA adds up {:.0f} steps of k in order{}", f.depth, split);
}

std::string step3(const Gpu& gpu, const KernelChoice& kernel, const GpuPrediction& p) {
    const bool tensor = !is_memory(kernel) && gpu.rate(kernel.type).pipe == Pipe::tensor;
    return fmt::format("{} SMs x {:.4g} MAC/cycle of their {} at {}", gpu.sms, p.units / gpu.sms,
                       tensor ? "tensor cores" : "vector lanes", format_si(p.clock_hz, "Hz"));
}

std::string step4(const StepFacts& f, const Gpu& gpu, const KernelChoice& kernel,
                  const GpuPrediction& p) {
    if (kernel.fused) {
        return fmt::format("{:.0f} CTA{} of {} x {} on {} SMs", kernel.fused->ctas,
                           kernel.fused->ctas == 1.0 ? "" : "s", kernel.fused->tile_m,
                           kernel.fused->tile_n, gpu.sms);
    }
    if (is_memory(kernel) || is_stencil(kernel)) {
        return "no tiles: elements are spread evenly";
    }
    const KernelMapping m = mapping_of(kernel);
    const double last = f.ctas - (f.in_turn - 1.0) * gpu.sms;
    const double filled = p.steps[3].macs_per_cycle / p.units;
    std::string text =
        fmt::format("{:.0f} CTA{} of {} x {} on {} SMs: {:.0f} wave{}, the last with {:.0f}",
                    f.ctas, f.ctas == 1.0 ? "" : "s", m.tile.tm, m.tile.tn, gpu.sms, f.in_turn,
                    f.in_turn == 1.0 ? "" : "s", last);
    if (filled <= 1.0) {
        text += fmt::format("; {:.1f} % of the units' time is inside the layer", 100.0 * filled);
    }
    if (const double aligned = aligned_share(gpu, kernel); aligned < kSaysAligned) {
        const Product& product = kernel.products.back();
        constexpr double kWhole = 1024.0; // columns: rows of any type are whole 16 bytes
        Product whole = product;
        whole.n = kWhole;
        const bool of_k = aligned_rate(gpu, whole) <= aligned; // as slow with whole rows of n
        text +=
            fmt::format("; rows of {} = {:.0f} are not whole 16 bytes: tensor cores at {:.0f} %",
                        of_k ? "k" : "n", of_k ? product.k : product.n, 100.0 * aligned);
    }
    return text;
}

std::string step5(const StepFacts& f, const KernelChoice& kernel) {
    if (kernel.fused) {
        return "shared memory holds a tile of either operand, registers the sums";
    }
    if (is_memory(kernel) || is_stencil(kernel)) {
        return "registers hold what a thread works on";
    }
    const KernelMapping m = mapping_of(kernel);
    const Occupancy& o = f.occupancy;
    std::string text =
        fmt::format("an SM holds {} CTA{} of {} x {} at once ({}); it has {:.0f} in "
                    "turn",
                    o.ctas, o.ctas == 1 ? "" : "s", m.tile.tm, m.tile.tn, o.by, f.in_turn);
    if (o.busy < kSaysAligned) {
        text +=
            fmt::format("; their sums fill {:.1f} % of the pipe's cycles at most", 100.0 * o.busy);
    }
    return text;
}

std::string step6(const StepFacts& f, const Gpu& gpu, const Work& work,
                  const KernelChoice& kernel) {
    if (kernel.memory.link_bytes_per_s > 0.0) {
        return fmt::format("{} over a link of {}: {}", format_si(kernel.memory.bytes, "B", 4),
                           rate_text(kernel.memory.link_bytes_per_s), format_si(f.dram_s, "s"));
    }
    std::string text =
        fmt::format("{} once over {}: {}", format_si(static_cast<double>(work.bytes()), "B", 4),
                    rate_text(gpu.dram_bytes_per_s), format_si(f.dram_s, "s"));
    if (f.resident > 0.01) {
        text += fmt::format(", {:.0f} % of them from L2", 100.0 * f.resident);
    }
    if (f.l2_bytes > 0.0) {
        text += fmt::format("; tiles read {} through L2 at {}: {}", format_si(f.l2_bytes, "B", 4),
                            rate_text(f.l2_bytes_per_s), format_si(f.l2_s, "s"));
    }
    return text;
}

std::string step7(const GpuPrediction& p) {
    const double kernel_s = p.time_s - p.launch_s;
    std::string text = fmt::format("launch {} and kernel {}, of which bandwidth and tiles allow {}",
                                   format_si(p.launch_s, "s"), format_si(kernel_s, "s"),
                                   format_si(p.step6_s, "s"));
    if (p.clock_share < kSaysAligned) {
        text += fmt::format("; power holds the clock at {:.0f} %", 100.0 * p.clock_share);
    }
    return text;
}

struct Named {
    std::string text; // empty: nothing
    Limit kind = Limit::latency;
};

const Named kDram = {"DRAM bandwidth", Limit::outer_memory};
const Named kL2 = {"L2 bandwidth", Limit::on_chip};

// The kernel's longest term, where it is a memory's.
Named memory_term(const StepFacts& f, const Gpu& gpu, const KernelChoice& kernel,
                  const GpuPrediction& p) {
    if (kernel.memory.link_bytes_per_s > 0.0) {
        return {"link bandwidth", Limit::link};
    }
    if (is_memory(kernel)) {
        return kernel.memory.gather_bound ? Named{"SM cycles per element", Limit::latency}
               : f.resident > kMostly     ? kL2
                                          : kDram;
    }
    if (kernel.fused) {
        return !kernel.fused->dram_bound() ? Named{} : f.resident > kMostly ? kL2 : kDram;
    }
    if (kernel.conv) {
        const double share = kernel.kernel_class == KernelClass::tensor_conv
                                 ? gpu.calibration.tensor_conv.matmul.dram_share
                                 : gpu.calibration.conv.matmul.dram_share;
        const double dram_s = kernel.conv->dram_bytes / (share * gpu.dram_bytes_per_s);
        const double half = kernel.conv->body_s * std::pow(kMostly, 1.0 / kJoinedPower);
        return dram_s > half ? kDram : Named{};
    }
    const MatmulTime& t = *kernel.matmul;
    const bool roof = f.dram_s > f.l2_s && p.steps[5].macs_per_cycle < p.steps[4].macs_per_cycle;
    const bool longest = t.dram_s >= t.compute_s && t.dram_s >= t.l2_s;
    if (longest || (roof && t.dram_s > kMostly * t.body_s)) {
        return f.resident > kMostly ? kL2 : kDram;
    }
    return t.l2_s > t.compute_s ? kL2 : Named{};
}

double kept(const GpuPrediction& p, std::size_t step) {
    const double before = step > 1 ? std::min(p.units, p.steps[step - 2].macs_per_cycle) : p.units;
    return std::min(p.units, p.steps[step - 1].macs_per_cycle) / before;
}

// What a convolution's kernel does beside its product, where that takes longer than the product.
std::string conv_loss(const ConvTime& conv) {
    const bool product = conv.product.body_s >= kMostly * conv.body_s;
    switch (conv.algorithm) {
    case ConvAlgorithm::winograd:
        return "Winograd tiles";
    case ConvAlgorithm::winograd_nonfused:
        return product ? "Winograd tiles" : "Winograd transforms";
    case ConvAlgorithm::depthwise:
        return "dependent loads";
    case ConvAlgorithm::columns:
        return product ? std::string(conv.product.loss) : "scattered columns";
    case ConvAlgorithm::implicit_gemm:
        break;
    }
    return product || !conv.passes ? std::string(conv.product.loss) : "layout passes";
}

// What a kernel of several products waits for: "softmax exponentials", "CTA start and tail",
// "token routing", "uneven experts", "one more kernel".
std::string fused_loss(const KernelChoice& kernel, const FusedTime& f) {
    if (kernel.kernel_class == KernelClass::grouped) {
        return f.other_s > f.compute_s ? "token routing" : "uneven experts";
    }
    return f.other_s > f.compute_s ? "one more kernel" : f.loss;
}

// The mechanism that a kernel's own time goes to, where neither launch, power, nor a memory bind.
std::string mechanism(const KernelChoice& kernel) {
    const std::string named = kernel.fused    ? fused_loss(kernel, *kernel.fused)
                              : kernel.conv   ? conv_loss(*kernel.conv)
                              : kernel.matmul ? std::string(kernel.matmul->loss)
                                              : "dependent loads";
    return named.empty() ? "dependent loads" : named;
}

// Where the time of step 7 goes, apart from the memory that it may wait for.
Named last_cause(const GpuPrediction& p, const KernelChoice& kernel) {
    const double kernel_s = std::max(p.time_s - p.launch_s, 1e-12);
    const double other = p.step6_s / kernel_s / p.clock_share;
    const double launch = kernel_s / p.time_s;
    if (p.launch_s > kMostly * p.time_s || (launch <= other && launch <= p.clock_share)) {
        return {"launch", Limit::launch};
    }
    return p.clock_share < other ? Named{"clock under power", Limit::power}
                                 : Named{mechanism(kernel), Limit::latency};
}

void name_steps(const StepFacts& f, const Gpu& gpu, const KernelChoice& kernel, GpuPrediction& p) {
    const bool plain = is_memory(kernel) || is_stencil(kernel);
    const double aligned = aligned_share(gpu, kernel);
    const bool misaligned = aligned < kSaysAligned && aligned <= kept(p, 4) / aligned;
    const Named memory = memory_term(f, gpu, kernel, p);
    const Named last = last_cause(p, kernel);
    const bool waits = last.kind == Limit::latency && !memory.text.empty();
    const std::array<Named, kSteps> names = {
        Named{"layer", Limit::workload},
        {plain ? "tree of a row" : "k in order", Limit::dataflow},
        {"SMs", Limit::units},
        misaligned ? Named{"alignment", Limit::alignment}
                   : Named{"tiles and waves", Limit::dimensions},
        {plain ? "registers" : std::string(f.occupancy.by), Limit::storage},
        kernel.memory.link_bytes_per_s > 0.0 ? Named{"link bandwidth", Limit::link}
        : f.dram_s >= f.l2_s                 ? (f.resident > kMostly ? kL2 : kDram)
                                             : kL2,
        waits ? memory : last};
    for (std::size_t i = 0; i < kSteps; ++i) {
        p.steps[i].limit = names[i].text;
        p.steps[i].kind = names[i].kind;
    }
}

void name_limiter(GpuPrediction& p) {
    const StepBound& binding = p.steps[p.limits.binding - 1];
    p.limiter_step = p.limits.binding;
    p.limiter = p.limits.arithmetic ? "arithmetic" : binding.limit;
    p.limit = p.limits.arithmetic ? Limit::arithmetic : binding.kind;
}

} // namespace

void explain(const StepFacts& f, const Gpu& gpu, const Work& work, const KernelChoice& kernel,
             GpuPrediction& p) {
    name_steps(f, gpu, kernel, p);
    const std::array<std::string, kSteps> reasons = {step1(work),
                                                     step2(f, kernel),
                                                     step3(gpu, kernel, p),
                                                     step4(f, gpu, kernel, p),
                                                     step5(f, kernel),
                                                     step6(f, gpu, work, kernel),
                                                     step7(p)};
    for (std::size_t i = 0; i < kSteps; ++i) {
        p.steps[i].reason = reasons[i];
        p.machine_steps[i].limit = p.steps[i].limit;
        p.machine_steps[i].kind = p.steps[i].kind;
        p.machine_steps[i].reason = "least over all tiles, splits and algorithms";
    }
    name_limiter(p);
}

} // namespace eyeroof::model
