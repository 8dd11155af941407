// One layer on a GPU: the model's prediction as a row of the report.
#include "analysis/exam/examine.hpp"

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

// The report counts cycles of one clock; the pipe of a layer may run at another.
Chain at_clock(Chain chain, double from_hz, double to_hz) {
    for (StepBound& bound : chain) {
        bound.macs_per_cycle *= from_hz / to_hz;
    }
    return chain;
}

bool is_outer(Limit limit) {
    return limit == Limit::outer_memory || limit == Limit::link;
}

// What the outermost memory (or the link to it) adds: beyond tiles, occupancy and L2 at the data
// sheet's bandwidth, and what the kernel falls short of that where the memory binds it.
double outer_stall_s(const GpuPrediction& p, double kernel_s) {
    const double else_s = std::max(p.macs / (p.steps[4].macs_per_cycle * p.clock_hz), p.step6_l2_s);
    const double at_bandwidth = is_outer(p.steps[5].kind) ? p.step6_s - else_s : 0.0;
    const double short_of_it = is_outer(p.steps[6].kind) ? kernel_s - p.step6_s : 0.0;
    return std::max(at_bandwidth, 0.0) + std::max(short_of_it, 0.0);
}

TimeSplit split_of(const GpuPrediction& p) {
    const double kernel_s = std::max(p.time_s - p.launch_s, 0.0);
    TimeSplit split;
    split.overhead_s = p.time_s - kernel_s;
    split.compute_s = std::min(kernel_s, p.macs / (p.steps[3].macs_per_cycle * p.clock_hz));
    constexpr double kRounding = 1e-9; // of a difference of times
    const double stall_s = std::min(outer_stall_s(p, kernel_s), kernel_s - split.compute_s);
    split.dram_stall_s = stall_s > kRounding * kernel_s ? stall_s : 0.0;
    split.on_chip_stall_s = std::max(kernel_s - split.compute_s - split.dram_stall_s, 0.0);
    return split;
}

// Units of the type that most arithmetic layers of the network have; fp32 lanes where none has any.
DataType main_type(const Network& network, const Gpu& gpu) {
    std::array<double, kDataTypes> macs{};
    for (const Layer& layer : network.layers) {
        if (const auto work = model::work_of(layer); work && work->macs > 0) {
            macs[static_cast<std::size_t>(layer.types.input)] +=
                static_cast<double>(work->macs) * static_cast<double>(layer.count);
        }
    }
    const auto most = std::max_element(macs.begin(), macs.end());
    const auto type = static_cast<DataType>(most - macs.begin());
    return *most > 0.0 && gpu.rate(type).flops_per_s > 0.0 ? type : DataType::fp32;
}

} // namespace

GpuContext gpu_context(const Gpu& gpu, const Network& network) {
    GpuContext context{gpu, main_type(network, gpu), 1.0, gpu.boost_hz};
    if (gpu.rate(context.type).flops_per_s > 0.0) {
        context.units = macs_per_cycle(gpu, context.type);
        context.clock_hz = pipe_clock_hz(gpu, context.type);
    }
    return context;
}

LayerReport layer_report(const step::Graph& program, std::uint32_t at, const GpuContext& context,
                         const GpuPrediction& p) {
    LayerReport report;
    report.layer = program.layers[at];
    report.macs = p.work_macs;
    report.flops = p.work_flops;
    report.bytes = p.work_bytes;
    report.steps = at_clock(p.steps, p.clock_hz, context.clock_hz);
    report.machine_steps = at_clock(p.machine_steps, p.clock_hz, context.clock_hz);
    report.units = p.units * p.clock_hz / context.clock_hz;
    report.cycles = p.time_s * context.clock_hz;
    report.time_s = p.time_s;
    report.low_s = p.low_s;
    report.high_s = p.high_s;
    report.split = split_of(p);
    report.processing_time_s = p.time_s - report.split.dram_stall_s;
    report.clock_hz = p.clock_hz * p.clock_share;
    const double rate = p.macs / report.cycles;
    report.utilization = rate / report.units;
    // An algorithm that multiplies less than the layer does (Winograd) may pass the units' rate.
    report.active = {report.units, std::min(rate, report.units)};
    report.limiter_step = p.limiter_step;
    report.limiter = p.limiter;
    report.limit = p.limit;
    report.limits = p.limits;
    report.measured_power = p.energy_j > 0.0;
    report.energy_j = report.measured_power ? p.energy_j : context.gpu.tdp_w * p.time_s;
    report.outer_bytes = p.bytes;
    report.l2_bytes = p.l2_bytes;
    report.kernel = p.form;
    report.mapping_text = p.form.text();
    report.notes = p.notes;
    return report;
}

MachineSummary summarise(const Machine& machine, const GpuContext& context) {
    MachineSummary summary;
    summary.id = machine.id;
    summary.name = machine.name;
    summary.kind = context.gpu.arch == GpuArch::host ? "host" : "gpu";
    summary.units = context.units;
    summary.clock_hz = context.clock_hz;
    summary.peak_macs_per_s = context.units * context.clock_hz;
    summary.outer_bytes_per_s = context.gpu.dram_bytes_per_s;
    summary.dataflow = "library kernels";
    if (context.gpu.arch != GpuArch::host) {
        summary.compute_capability = context.gpu.compute_capability;
        summary.sms = context.gpu.sms;
    }
    for (const auto& [field, provenance] : machine.provenance) {
        if (provenance.confidence == Confidence::recalled) {
            summary.weak_sources.push_back(field);
        }
    }
    return summary;
}

} // namespace eyeroof::analysis
