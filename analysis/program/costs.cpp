#include "analysis/program/costs.hpp"

#include "model/gpu/group.hpp"

#include <algorithm>

namespace eyeroof::analysis::step {

namespace {

// Step 4 of the chain counts whole waves of SMs; a kernel with fewer tiles leaves the rest idle.
double share_of(const model::Gpu& gpu, const model::Layer& layer, const model::GpuPrediction& p) {
    const double kernel_s = std::max(p.time_s, 1e-12);
    const double memory = p.bytes / (gpu.dram_bytes_per_s * kernel_s);
    const double arithmetic = p.macs > 0.0 && p.steps[2].macs_per_cycle > 0.0
                                  ? p.macs / (p.steps[2].macs_per_cycle * p.clock_hz * kernel_s)
                                  : 0.0;
    const auto work = model::work_of(layer);
    // A CTA of 256 threads an element each, or a 64 x 64 tile: what a kernel can spread over.
    const double outputs = work ? static_cast<double>(operands_of(layer).writes) : 0.0;
    const double tile = model::multiplies(layer.op) ? 4096.0 : 256.0;
    const double sms = std::min(1.0, outputs / tile / gpu.sms);
    return std::clamp(std::max({memory, arithmetic, sms}), 0.01, 1.0);
}

} // namespace

Result<model::GpuPrediction> predict_layer(const Graph& graph, std::uint32_t layer,
                                           const model::Gpu& gpu, const SoftwareOf& software,
                                           model::Detail detail) {
    const model::Layer& one = graph.layers[layer];
    const auto at = graph.fused.find(layer);
    auto prediction = [&] {
        if (at == graph.fused.end()) {
            return model::predict(gpu, one, software(one), model::Timing::kernel, detail);
        }
        model::KernelGroup group{
            {}, at->second.read_bytes, at->second.written_bytes, at->second.kernels};
        for (const FusedMember& member : at->second.members) {
            group.members.push_back({member.layer, member.outside});
        }
        return model::predict_group(gpu, group, software(group.members.front().layer), detail);
    }();
    prediction.diagnostics().place({}, one.name);
    return prediction;
}

LayerCost cost_of(const Graph& graph, std::uint32_t layer, const model::Gpu& gpu,
                  const model::GpuPrediction& p) {
    LayerCost cost = cost_of(graph.layers[layer], gpu, p);
    const auto at = graph.fused.find(layer);
    cost.kernels = at == graph.fused.end() ? 1 : at->second.kernels;
    return cost;
}

LayerCost cost_of(const model::Layer& layer, const model::Gpu& gpu, const model::GpuPrediction& p) {
    LayerCost cost;
    cost.device_s = p.time_s;
    cost.start_s = p.launch_s;
    cost.low_s = p.low_s;
    cost.high_s = p.high_s;
    cost.bytes = p.bytes;
    cost.flops = p.flops;
    cost.served = !p.form.served.empty();
    cost.share = share_of(gpu, layer, p);
    return cost;
}

Result<LayerCost> LayerCosts::of(const model::Layer& layer) {
    std::pair<model::Layer, model::Software> key{layer, software_(layer)};
    key.first.name.clear();
    key.first.count = 1;
    if (const auto found = known_.find(key); found != known_.end()) {
        return found->second;
    }
    auto p = model::predict(*gpu_, layer, key.second, model::Timing::kernel, model::Detail::time);
    if (!p) {
        p.diagnostics().place({}, layer.name);
        return p.diagnostics();
    }
    if (known_.size() >= kMostKnown) {
        known_.clear();
    }
    return known_.emplace(std::move(key), cost_of(layer, *gpu_, *p)).first->second;
}

Result<Costs> LayerCosts::of(const Graph& graph) {
    Costs costs;
    Diagnostics found;
    costs.layers.reserve(graph.layers.size());
    for (std::uint32_t i = 0; i < graph.layers.size(); ++i) {
        if (!graph.fused.contains(i)) {
            const auto cost = of(graph.layers[i]);
            found.append(cost.diagnostics());
            costs.layers.push_back(cost ? *cost : LayerCost{});
            continue;
        }
        const auto p = predict_layer(graph, i, *gpu_, software_, model::Detail::time);
        found.append(p.diagnostics());
        costs.layers.push_back(p ? cost_of(graph, i, *gpu_, *p) : LayerCost{});
    }
    if (found.has_errors()) {
        return found;
    }
    return costs;
}

Result<Costs> costs_of(const Graph& graph, const model::Gpu& gpu, const SoftwareOf& software) {
    return LayerCosts(gpu, software).of(graph);
}

double with_weights_s(const model::Layer& layer, const model::Gpu& gpu, model::DataType weights,
                      double device_s, double flops, double bytes) {
    constexpr double kGroupBits = 1.0; // (16 + 16) / 32
    const double bits = 8.0 * model::bytes_per_element(weights) +
                        (weights == model::DataType::int4 ? kGroupBits : 0.0);
    const double own = 8.0 * model::bytes_per_element(layer.types.input);
    const double peak = gpu.rate(layer.types.input).flops_per_s;
    const bool product = layer.op == model::Op::gemm || layer.op == model::Op::bmm; // of experts
    if (!product || layer.types.weight != weights || bits >= own || peak <= 0.0 ||
        bytes / gpu.dram_bytes_per_s <= flops / peak) {
        return device_s;
    }
    const auto& shape = std::get<model::GemmShape>(layer.shape);
    const Count matrices = layer.op == model::Op::bmm ? shape.batch : 1; // a GEMM's are shared
    const double words =
        static_cast<double>(matrices) * static_cast<double>(shape.n) * static_cast<double>(shape.k);
    const double saved_s = words * (own - bits) / 8.0 / gpu.dram_bytes_per_s;
    return std::max(device_s - saved_s, flops / peak);
}

void cheapen_weights(const Graph& graph, const model::Gpu& gpu, model::DataType weights,
                     Costs& costs) {
    for (std::size_t i = 0; i < graph.layers.size(); ++i) {
        LayerCost& cost = costs.layers[i];
        if (cost.served) {
            continue;
        }
        const double after =
            with_weights_s(graph.layers[i], gpu, weights, cost.device_s, cost.flops, cost.bytes);
        const double scale = cost.device_s > 0.0 ? after / cost.device_s : 1.0;
        cost.device_s = after;
        cost.low_s *= scale;
        cost.high_s *= scale;
    }
}

double copy_seconds(const model::Gpu& gpu, Count bytes, bool pageable) {
    if (gpu.pcie_bytes_per_s <= 0.0 || bytes <= 0) {
        return 0.0;
    }
    const auto pinned = [&](Count n) {
        model::Layer copy;
        copy.name = "copy";
        copy.op = model::Op::elementwise;
        const Count rows = n / model::kMaxDimension + 1;
        copy.shape = model::ElementwiseShape{rows, std::max<Count>(n / rows, 1), "h2d"};
        copy.types = {model::DataType::int8, model::DataType::int8, model::DataType::int8};
        const auto p = model::predict(gpu, copy);
        return p ? p->time_s : 0.0;
    };
    const double all_s = pinned(bytes);
    return pageable ? all_s + (all_s - pinned(1)) : all_s;
}

} // namespace eyeroof::analysis::step
