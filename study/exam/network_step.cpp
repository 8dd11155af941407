#include "study/exam/network_step.hpp"

#include "study/exam/examine.hpp"
#include "study/exam/totals.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::study {

model::HostIssue textbook_host() {
    return {40e-6, 16e-6, 3e-6, 1.3e-6};
}

model::Issued issued_as(const model::Layer& layer) {
    const auto* e = std::get_if<model::ElementwiseShape>(&layer.shape);
    if (e != nullptr && (e->fn == "adam" || e->fn.starts_with("sgd"))) {
        return model::Issued::update;
    }
    return layer.direction == model::Direction::fwd ? model::Issued::forward
                                                    : model::Issued::gradient;
}

namespace {

// The same step if no kernel waited for the outermost memory: the host may hide what that saves.
double without_stalls_s(std::vector<model::StepPart> parts, const Report& report) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        parts[i].device_s = std::max(parts[i].device_s - report.layers[i].split.dram_stall_s, 0.0);
    }
    return model::step_time(parts).time_s;
}

// What a step has beside its operators (input, copies, waits of the host, kernels that the network
// does not name) adds to it: one measured step in ten took longer than the operators' own errors
// and this, ln, joined as independent, of 228 of 11 sources on V100, A100 and T4, each source
// counted once; docs/upgrade.md tells how many of a source that was left out the intervals hold.
constexpr double kStepAbove = 0.54;

} // namespace

double step_high_s(double time_s, double high_s) {
    if (!(time_s > 0.0)) {
        return high_s;
    }
    return time_s * std::exp(std::hypot(std::log(std::max(high_s / time_s, 1.0)), kStepAbove));
}

void add_step(const StudyOptions& options, Report& report) {
    const model::HostIssue host = options.host.known() ? options.host : textbook_host();
    const model::Launch mode = launch_of(options.launch);
    std::vector<model::StepPart> parts;
    double executions = 0.0;
    for (const LayerReport& layer : report.layers) {
        const model::Issued kind = issued_as(layer.layer);
        const auto count = static_cast<double>(layer.layer.count);
        executions += count;
        parts.push_back({model::issue_seconds(host, mode, kind), layer.device_s, count, kind});
    }
    if (executions <= 1.0) {
        for (LayerReport& layer : report.layers) {
            layer.wait_s = std::max(layer.time_s - layer.device_s, 0.0);
        }
        report.total.device_s = report.total.time_s;
        return;
    }
    const model::StepTime step = model::step_time(parts);
    for (std::size_t i = 0; i < report.layers.size(); ++i) {
        report.layers[i].wait_s = step.wait_s[i];
    }
    Total& total = report.total;
    const double scale = step.time_s / total.time_s;
    total.host_s = step.host_s;
    total.device_s = step.device_s;
    total.time_s = step.time_s;
    if (total.low_s && total.high_s) {
        *total.low_s *= scale;
        total.high_s = step_high_s(total.time_s, *total.high_s * scale);
    }
    total.processing_time_s = std::min(without_stalls_s(parts, report), total.time_s);
    total.utilization = utilization_in(report, total.time_s);
}

} // namespace eyeroof::study
