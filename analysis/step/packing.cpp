#include "analysis/step/packing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>

namespace eyeroof::analysis::step {

Packing pack(const std::vector<double>& times, std::size_t bins) {
    Packing packing;
    packing.bin_of.assign(times.size(), 0);
    if (bins == 0) {
        return packing;
    }
    std::vector<std::size_t> order(times.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return times[a] > times[b]; });
    using Bin = std::pair<double, std::size_t>; // its end, its number
    std::priority_queue<Bin, std::vector<Bin>, std::greater<>> free;
    for (std::size_t b = 0; b < bins; ++b) {
        free.push({0.0, b});
    }
    for (const std::size_t task : order) {
        Bin bin = free.top();
        free.pop();
        bin.first += times[task];
        packing.bin_of[task] = bin.second;
        packing.end_s = std::max(packing.end_s, bin.first);
        free.push(bin);
    }
    return packing;
}

namespace {

struct Level {
    std::vector<OperatorId> operators;
};

std::vector<Level> levels_of(const Graph& graph) {
    std::vector<std::size_t> level_of(graph.tensors.size(), 0); // at which a tensor is ready
    std::vector<Level> levels;
    for (OperatorId i = 0; i < static_cast<OperatorId>(graph.operators.size()); ++i) {
        std::size_t level = 0;
        for (const TensorId t : graph.reads_of(graph.operators[i])) {
            level = std::max(level, level_of[t]);
        }
        levels.resize(std::max(levels.size(), level + 1));
        levels[level].operators.push_back(i);
        for (const TensorId t : graph.writes_of(graph.operators[i])) {
            level_of[t] = level + 1;
        }
    }
    return levels;
}

} // namespace

Persistent persistent(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                      double launch_s) {
    Persistent result;
    const auto bins = static_cast<std::size_t>(std::max(gpu.sms, 1));
    result.time_s = launch_s;
    for (const Level& level : levels_of(graph)) {
        std::vector<double> tiles;
        double work = 0.0;
        for (const OperatorId i : level.operators) {
            const LayerCost& cost = costs.layers[graph.operators[i].layer];
            const double time = std::max(cost.device_s - cost.start_s, 0.0);
            const auto count = static_cast<std::size_t>(
                std::max(1.0, std::round(cost.share * static_cast<double>(bins))));
            tiles.insert(tiles.end(), count, time);
            work += time * static_cast<double>(count);
        }
        const double end = pack(tiles, bins).end_s;
        result.time_s += end + kBarrierS;
        result.idle_s += end - work / static_cast<double>(bins);
        ++result.levels;
    }
    if (result.levels > 0) { // none after the last
        result.time_s -= kBarrierS;
        result.barriers_s = kBarrierS * static_cast<double>(result.levels - 1);
    }
    return result;
}

} // namespace eyeroof::analysis::step
