#include "analysis/step/padding.hpp"

#include <array>

namespace eyeroof::analysis::step {

using model::Layer;

namespace {

constexpr double kWorthIt = 0.99;

Count rounded(Count size, Count unit) {
    return (size + unit - 1) / unit * unit;
}

struct Best {
    LayerCost cost;
    Count words = 0; // more of n x k
};

Best quickest(const Layer& layer, const LayerCost& now, LayerCosts& known) {
    const auto own = std::get<model::GemmShape>(layer.shape);
    const Count vector = std::max<Count>(128 / model::storage_bits(layer.types.input), 1);
    const std::array<Count, 3> units = {1, vector, 64};
    Best best{now, 0};
    for (const Count un : units) {
        for (const Count uk : units) {
            Layer padded = layer;
            auto& shape = std::get<model::GemmShape>(padded.shape);
            shape.n = rounded(own.n, un);
            shape.k = rounded(own.k, uk);
            if (shape.n == own.n && shape.k == own.k) {
                continue;
            }
            const auto cost = known.of(padded);
            if (cost && cost->device_s < best.cost.device_s) {
                best = {*cost, shape.n * shape.k - own.n * own.k};
            }
        }
    }
    return best;
}

} // namespace

Padded pad(const Graph& graph, LayerCosts& known, Costs& costs) {
    Padded result;
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        if (layer.op != model::Op::gemm) {
            continue;
        }
        const Best best = quickest(layer, costs.layers[i], known);
        if (best.cost.device_s > kWorthIt * costs.layers[i].device_s) {
            continue;
        }
        costs.layers[i] = best.cost;
        ++result.layers;
        if (model::parameters_of(layer) > 0) {
            const double width = model::bytes_per_element(layer.types.weight);
            result.added_bytes +=
                static_cast<Count>(static_cast<double>(best.words) * width) * layer.count;
        }
    }
    return result;
}

} // namespace eyeroof::analysis::step
