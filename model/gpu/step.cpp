#include "model/gpu/step.hpp"

#include <algorithm>
#include <array>

namespace eyeroof::model {

namespace {

constexpr std::array<std::string_view, 4> kLaunchNames = {"eager", "stream", "graph", "none"};

} // namespace

std::string_view launch_name(Launch launch) {
    return kLaunchNames[static_cast<std::size_t>(launch)];
}

std::optional<Launch> launch_from_name(std::string_view name) {
    const auto found = std::find(kLaunchNames.begin(), kLaunchNames.end(), name);
    return found == kLaunchNames.end()
               ? std::nullopt
               : std::optional(static_cast<Launch>(found - kLaunchNames.begin()));
}

std::vector<std::string_view> launch_names() {
    return {kLaunchNames.begin(), kLaunchNames.end()};
}

double issue_seconds(const HostIssue& host, Launch launch, Issued kind) {
    switch (launch) {
    case Launch::eager:
        return kind == Issued::forward    ? host.call_s
               : kind == Issued::gradient ? host.gradient_s
                                          : host.launch_s;
    case Launch::stream:
        return host.launch_s;
    case Launch::graph:
        return host.node_s;
    case Launch::none:
        return 0.0;
    }
    return 0.0;
}

double call_weight(const CallWeights& weights, const Layer& layer) {
    switch (layer.op) {
    case Op::conv2d:
        return weights.conv;
    case Op::gemm:
    case Op::bmm:
    case Op::attention:
    case Op::moe:
        return weights.gemm;
    case Op::layernorm:
    case Op::batchnorm:
        return weights.norm;
    case Op::maxpool:
    case Op::avgpool: {
        const auto& pool = std::get<PoolShape>(layer.shape);
        return pool.r == pool.h && pool.s == pool.w ? weights.reduction : weights.pool;
    }
    default:
        return 1.0;
    }
}

namespace {

// Neighbours that a network repeats are one run; all else stands alone.
std::size_t end_of_run(std::span<const StepPart> parts, std::size_t begin) {
    std::size_t end = begin + 1;
    const auto repeated = [&](std::size_t i) {
        return parts[i].count > 1.0 && parts[i].kind == parts[begin].kind;
    };
    while (repeated(begin) && end < parts.size() && repeated(end)) {
        ++end;
    }
    return end;
}

// Hands a run's idle time to the parts whose issue takes longer than their kernel.
void share_wait(std::span<const StepPart> run, double idle_s, double* wait_s) {
    double short_s = 0.0;
    double executions = 0.0;
    for (const StepPart& part : run) {
        short_s += part.count * std::max(part.host_s - part.device_s, 0.0);
        executions += part.count;
    }
    for (std::size_t i = 0; i < run.size(); ++i) {
        const double own = std::max(run[i].host_s - run[i].device_s, 0.0);
        wait_s[i] = short_s > 0.0 ? idle_s * own / short_s : idle_s / executions;
    }
}

} // namespace

StepTime step_time(std::span<const StepPart> parts) {
    StepTime step;
    step.wait_s.resize(parts.size());
    for (std::size_t begin = 0; begin < parts.size();) {
        const std::size_t end = end_of_run(parts, begin);
        const auto run = parts.subspan(begin, end - begin);
        double host_s = 0.0;
        double device_s = 0.0;
        for (const StepPart& part : run) {
            host_s += part.count * part.host_s;
            device_s += part.count * part.device_s;
        }
        const double before_s = step.time_s;
        step.time_s = std::max({before_s + device_s, step.host_s + run.front().host_s + device_s,
                                step.host_s + host_s + run.back().device_s});
        share_wait(run, step.time_s - before_s - device_s, &step.wait_s[begin]);
        step.host_s += host_s;
        step.device_s += device_s;
        begin = end;
    }
    return step;
}

} // namespace eyeroof::model
