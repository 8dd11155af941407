#include "analysis/exam/gpu_step.hpp"

#include "analysis/exam/examine.hpp"
#include "analysis/exam/totals.hpp"
#include "analysis/program/lower.hpp"
#include "model/gpu/supported.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::analysis {

using model::Gpu;

namespace {

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
    total.energy_j = gpu.tdp_w * total.time_s;
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
    for (std::uint32_t i = 0; i < program.layers.size(); ++i) {
        if (stop.stop_requested()) {
            return Result<Report>::failure("cancelled", "the examination was cancelled");
        }
        if (progress) {
            const auto n = static_cast<double>(program.layers.size());
            progress(
                {i / n,
                 fmt::format("{} ({} of {})", program.layers[i].name, i + 1, program.layers.size()),
                 0.0, -1.0});
        }
        const auto prediction = step::predict_layer(program, i, gpu, software);
        problems.append(prediction.diagnostics());
        if (prediction) {
            costs.layers.push_back(step::cost_of(program, i, gpu, *prediction));
            report.layers.push_back(layer_report(program, i, context, *prediction));
        }
    }
    if (problems.has_errors()) {
        return problems;
    }
    report.program = std::move(program);
    add_totals(report);
    add_step(gpu, costs, timeline_options(question, gpu), report);
    add_memory(question, gpu, software, report);
    return {std::move(report), std::move(problems)};
}

} // namespace eyeroof::analysis
