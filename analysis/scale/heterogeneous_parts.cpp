#include "analysis/scale/heterogeneous_parts.hpp"

#include "analysis/program/memory.hpp"

#include <algorithm>

namespace eyeroof::analysis {

double HeterogeneousLink::seconds(double bytes) const {
    if (fabric_) {
        const model::FabricLevel& level = fabric_->levels.front();
        const double rate = level.bytes_per_s * level.share * static_cast<double>(level.ports);
        return level.latency(0) + level.overhead_s + bytes / rate;
    }
    std::vector<double> ways;
    for (const HeterogeneousDevice& device : devices_) {
        ways.push_back(step::copy_seconds(device.gpu, static_cast<Count>(bytes), false));
    }
    std::sort(ways.rbegin(), ways.rend());
    return ways[0] + (ways.size() > 1 ? ways[1] : 0.0);
}

// Device x operator, seconds.
Result<std::vector<std::vector<double>>>
operator_times(const step::Graph& graph, const std::vector<HeterogeneousDevice>& devices,
               const step::SoftwareOf& software) {
    std::vector<std::vector<double>> op_s;
    for (const HeterogeneousDevice& device : devices) {
        const auto costs = step::costs_of(graph, device.gpu, software);
        if (!costs) {
            return costs.diagnostics();
        }
        std::vector<double>& row = op_s.emplace_back();
        for (const step::Operator& op : graph.operators) {
            row.push_back(costs->layers[op.layer].device_s);
        }
    }
    return op_s;
}

double room_of(const HeterogeneousDevice& device) {
    return device.gpu.dram_bytes > 0.0 ? static_cast<double>(step::capacity_of(device.gpu)) : 0.0;
}

} // namespace eyeroof::analysis
