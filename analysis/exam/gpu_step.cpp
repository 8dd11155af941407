#include "analysis/exam/gpu_step.hpp"

#include "analysis/exam/examine.hpp"
#include "analysis/exam/totals.hpp"
#include "analysis/program/lower.hpp"
#include "base/parallel.hpp"
#include "model/gpu/supported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>

namespace eyeroof::analysis {

using model::Gpu;

namespace {

constexpr std::size_t kLossesTried = 8; // in the whole step

model::HostIssue host_of(const Question& question, const Gpu& gpu) {
    if (gpu.arch == model::GpuArch::host) {
        return gpu.issue;
    }
    model::HostIssue host = question.host.known() ? question.host : step::textbook_host();
    for (double* seconds : {&host.call_s, &host.gradient_s, &host.launch_s, &host.latency_s,
                            &host.compiled_s, &host.replay_s}) {
        *seconds /= question.scenario.host_speed;
    }
    return host;
}

// Mean idle time before a run of each layer.
std::vector<double> waits_of(const step::Graph& program, const step::Timeline& line) {
    std::vector<double> waits(program.layers.size(), 0.0);
    for (const step::LayerTime& row : step::by_layer(program, line)) {
        waits[row.layer] = row.waits_s / static_cast<double>(row.runs);
    }
    return waits;
}

// The same step if no kernel waited for the outermost memory: the host may hide what that saves.
double without_stalls_s(const Report& report, step::Costs costs, const Gpu& gpu,
                        const step::TimelineOptions& options) {
    for (std::size_t i = 0; i < costs.layers.size(); ++i) {
        double& device_s = costs.layers[i].device_s;
        device_s = std::max(device_s - report.layers[i].split.dram_stall_s, 0.0);
    }
    return step::simulate(report.program, costs, gpu, options).time_s;
}

// What the step saves without each loss of a layer, in place of what the layer's kernels save: the
// host's launches and other streams may hide it. `report.worst` comes with more losses than stay.
void keep_step_savings(const Gpu& gpu, step::Costs costs, const step::TimelineOptions& options,
                       Report& report) {
    for (Loss& loss : report.worst) {
        double& device_s = costs.layers[loss.layer].device_s;
        const double before_s = device_s;
        const auto runs = static_cast<double>(report.layers[loss.layer].layer.count);
        device_s = std::max(device_s - loss.lost_s / runs, 0.0);
        loss.lost_s =
            report.total.time_s - step::simulate(report.program, costs, gpu, options).time_s;
        device_s = before_s;
    }
    std::ranges::stable_sort(report.worst, std::greater(), &Loss::lost_s);
    keep_worthwhile(report, kLossesKept);
}

// The board's limit, less what kernels of measured power take less; kernels that run side by side
// share one limit.
double step_energy_j(const Gpu& gpu, const step::Timeline& line,
                     const std::vector<LayerReport>& layers) {
    double less_j = -gpu.tdp_w * std::max(line.kernels_s - line.busy_s, 0.0);
    for (const LayerReport& layer : layers) {
        less_j +=
            static_cast<double>(layer.layer.count) * (gpu.tdp_w * layer.time_s - layer.energy_j);
    }
    return gpu.tdp_w * line.time_s - std::max(less_j, 0.0);
}

void add_step(const Gpu& gpu, const step::Costs& costs, const step::TimelineOptions& options,
              Report& report) {
    report.timeline = step::simulate(report.program, costs, gpu, options);
    const std::vector<double> waits = waits_of(report.program, report.timeline);
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        report.layers[i].wait_s = waits[i];
    }
    Total& total = report.total;
    total.time_s = report.timeline.time_s;
    total.host_s = report.timeline.host_s;
    total.device_s = report.timeline.kernels_s;
    total.low_s = report.timeline.low_s;
    total.high_s = report.timeline.high_s;
    total.energy_j = step_energy_j(gpu, report.timeline, report.layers);
    total.processing_time_s = std::min(without_stalls_s(report, costs, gpu, options), total.time_s);
    total.utilization = utilization_in(report, total.time_s);
}

void add_memory(const Question& question, const Gpu& gpu, const step::SoftwareOf& software,
                Report& report) {
    report.memory =
        memory_of(question, report.program, step::workspaces_of(report.program, gpu, software));
    if (gpu.dram_bytes > 0.0) {
        const bool chain = report.program.chain && report.program.layers.size() > 1;
        report.fit = {report.memory->peak, step::capacity_of(gpu), std::nullopt, chain};
    }
}

struct Watch {
    const ProgressCallback& progress; // called from the caller's thread alone
    const std::stop_token& stop;
};

// Every layer's row and costs. Layers do not depend on each other: many are shared among threads.
Diagnostics add_layers(const step::Graph& program, const GpuContext& context,
                       const step::SoftwareOf& software, const Watch& watch, Report& report,
                       step::Costs& costs) {
    constexpr std::size_t kWorthThreads = 512; // layers: about ten milliseconds
    const std::size_t count = program.layers.size();
    const bool alone = count < kWorthThreads || in_piece_of_work();
    const std::thread::id caller = std::this_thread::get_id();
    std::vector<Diagnostics> found(count);
    report.layers.resize(count);
    costs.layers.resize(count);
    in_parallel(alone ? 1 : thread_count(0), count, [&](std::size_t i) {
        if (watch.stop.stop_requested()) {
            return;
        }
        if (watch.progress && std::this_thread::get_id() == caller) {
            watch.progress({static_cast<double>(i) / static_cast<double>(count),
                            fmt::format("{} ({} of {})", program.layers[i].name, i + 1, count), 0.0,
                            -1.0});
        }
        const auto at = static_cast<std::uint32_t>(i);
        auto prediction = step::predict_layer(program, at, context.gpu, software);
        if (prediction) {
            costs.layers[i] = step::cost_of(program, at, context.gpu, *prediction);
            report.layers[i] = layer_report(program, at, context, *prediction);
        }
        found[i] = std::move(prediction.diagnostics());
    });
    Diagnostics all;
    for (const Diagnostics& of_layer : found) {
        all.append(of_layer);
    }
    return all;
}

} // namespace

step::TimelineOptions timeline_options(const Question& question, const Gpu& gpu) {
    const Scenario& s = question.scenario;
    return {s.launch, s.compiled, host_of(question, gpu), s.streams, s.copies, s.pageable};
}

Result<Report> examine_on_gpu(const Question& question, step::Graph program, const Gpu& gpu,
                              const ProgressCallback& progress, const std::stop_token& stop) {
    model::Network layers{program.id, program.name, "", program.layers};
    Diagnostics problems = model::check_supported(layers, question.machine.name, gpu);
    if (problems.has_errors()) {
        return problems;
    }
    const GpuContext context = gpu_context(gpu, layers);
    const step::SoftwareOf software = software_of(question);
    Report report;
    report.machine = summarise(question.machine, context);
    step::Costs costs;
    problems.append(add_layers(program, context, software, {progress, stop}, report, costs));
    if (stop.stop_requested()) {
        return Result<Report>::failure("cancelled", "the examination was cancelled");
    }
    if (problems.has_errors()) {
        return problems;
    }
    report.program = std::move(program);
    add_totals(report, kLossesTried);
    add_step(gpu, costs, timeline_options(question, gpu), report);
    keep_step_savings(gpu, std::move(costs), timeline_options(question, gpu), report);
    add_memory(question, gpu, software, report);
    return {std::move(report), std::move(problems)};
}

} // namespace eyeroof::analysis
