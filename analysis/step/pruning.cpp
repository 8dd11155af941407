#include "analysis/step/pruning.hpp"

#include <algorithm>
#include <cmath>

namespace eyeroof::analysis::step {

using model::DataType;
using model::GpuArch;
using model::Layer;

bool learned_product(const Layer& layer) {
    return (layer.op == model::Op::gemm || layer.op == model::Op::bmm) &&
           model::parameters_of(layer) > 0;
}

bool serves_two_of_four(const model::Gpu& gpu, DataType type) {
    const bool skips = gpu.arch == GpuArch::ampere || gpu.arch == GpuArch::ada ||
                       gpu.arch == GpuArch::hopper || gpu.arch == GpuArch::blackwell;
    const model::Rate& rate = gpu.rate(type);
    return skips && rate.flops_per_s > 0.0 && rate.pipe == model::Pipe::tensor;
}

double bytes_left(Pruning pruning, double density, DataType type) {
    constexpr double kIndexBits = 32.0;
    const double bits = model::storage_bits(type);
    switch (pruning) {
    case Pruning::two_of_four:
        return 0.5 + 0.5 * 2.0 / bits;
    case Pruning::blocks:
        return density * (1.0 + kIndexBits / (bits * static_cast<double>(kBlock * kBlock)));
    case Pruning::none:
        break;
    }
    return 1.0;
}

double depth_left(Pruning pruning, double density, Count n, Count k) {
    if (pruning == Pruning::two_of_four) {
        return 0.5;
    }
    if (pruning == Pruning::none) {
        return 1.0;
    }
    const auto blocks = [](Count size) {
        return std::max(std::ceil(static_cast<double>(size) / static_cast<double>(kBlock)), 1.0);
    };
    const double deviation = std::sqrt(density * (1.0 - density) / blocks(k));
    return std::min(density + std::sqrt(2.0 * std::log(blocks(n))) * deviation, 1.0);
}

double unstructured_break_even(const model::Gpu& gpu, DataType type) {
    const model::Rate& rate = gpu.rate(type);
    if (rate.pipe != model::Pipe::tensor || rate.flops_per_s <= 0.0) {
        return 1.0;
    }
    return std::min(gpu.rate(DataType::fp32).flops_per_s / rate.flops_per_s, 1.0);
}

namespace {

bool prunable(const Layer& layer, const model::Gpu& gpu, Pruning pruning) {
    return learned_product(layer) &&
           (pruning != Pruning::two_of_four || serves_two_of_four(gpu, layer.types.input));
}

} // namespace

Pruned prune(const Graph& graph, LayerCosts& known, Pruning pruning, double density, Costs& costs) {
    const model::Gpu& gpu = known.gpu();
    Pruned result;
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        const Layer& layer = graph.layers[i];
        if (!prunable(layer, gpu, pruning)) {
            continue;
        }
        Layer shorter = layer;
        auto& shape = std::get<model::GemmShape>(shorter.shape);
        const bool experts = layer.op == model::Op::bmm; // of which a step reads some
        const double words = static_cast<double>(experts ? shape.batch : 1) *
                             static_cast<double>(shape.n) * static_cast<double>(shape.k);
        const double width = model::bytes_per_element(layer.types.weight);
        const double weights = words * width;
        const double kept =
            experts ? width * static_cast<double>(model::parameters_of(layer)) : weights;
        const double left = bytes_left(pruning, density, layer.types.weight);
        const double depth = depth_left(pruning, density, shape.n, shape.k);
        shape.k = std::max<Count>(static_cast<Count>(static_cast<double>(shape.k) * depth), 1);
        const auto kernel = known.of(shorter);
        LayerCost& cost = costs.layers[i];
        if (!kernel) {
            continue;
        }
        const double moved_s = (cost.bytes - (1.0 - left) * weights) /
                               (gpu.dram_bytes_per_s * gpu.calibration.tensor_gemm.dram_share);
        const double after = std::max(kernel->device_s, moved_s);
        if (after >= cost.device_s) {
            continue;
        }
        const double scale = after / cost.device_s;
        cost.device_s = after;
        cost.low_s *= scale; // high_s stays: nothing may be gained
        ++result.layers;
        result.saved_bytes += static_cast<Count>((1.0 - left) * kept) * layer.count;
    }
    return result;
}

Count pruning_steps(Pruning pruning, double density) {
    const double gone = pruning == Pruning::two_of_four ? 0.5 : 1.0 - density;
    return static_cast<Count>(std::ceil(gone / 0.1 - 1e-9));
}

} // namespace eyeroof::analysis::step
