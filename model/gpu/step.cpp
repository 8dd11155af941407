#include "model/gpu/step.hpp"

#include "model/workload/operators.hpp"

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
    switch (traits_of(layer.op).call) {
    case CallKind::convolution:
        return weights.conv;
    case CallKind::product:
        return weights.gemm;
    case CallKind::norm:
        return weights.norm;
    case CallKind::pool: {
        const auto& pool = std::get<PoolShape>(layer.shape);
        const bool reduces = pool.r == pool.h && (pool.s == pool.w || pool.s == 1);
        return reduces ? weights.reduction : weights.pool;
    }
    case CallKind::plain:
        break;
    }
    return 1.0;
}

} // namespace eyeroof::model
