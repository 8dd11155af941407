// The time of each operator of a program on a GPU or a host processor, computed once for equal
// operators. Input of the timeline and of analyses that change single kernels.
#pragma once

#include "analysis/program/graph.hpp"
#include "base/result.hpp"
#include "model/gpu/predict.hpp"

#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace eyeroof::analysis::step {

struct LayerCost {
    double device_s = 0.0; // the kernel
    double start_s = 0.0;  // of device_s, filling and draining an empty GPU
    double low_s = 0.0;    // of device_s
    double high_s = 0.0;
    Count kernels = 1;  // launches of one run
    double share = 1.0; // of the GPU that is taken while it runs: SMs or DRAM, whichever is more
    double bytes = 0.0; // moved at DRAM
    double flops = 0.0;
    bool served = false; // by a serving library's own constants, which know the type of its weights

    bool operator==(const LayerCost&) const = default;
};

struct Costs {
    std::vector<LayerCost> layers; // beside Graph::layers
};

using SoftwareOf = std::function<model::Software(const model::Layer&)>;

// The prediction of one of the program's layers; of a fused one that of its group. Errors: those of
// predict() and predict_group(), with the layer's name.
Result<model::GpuPrediction> predict_layer(const Graph& graph, std::uint32_t layer,
                                           const model::Gpu& gpu, const SoftwareOf& software,
                                           model::Detail detail = model::Detail::reasons);
LayerCost cost_of(const Graph& graph, std::uint32_t layer, const model::Gpu& gpu,
                  const model::GpuPrediction& prediction);
LayerCost cost_of(const model::Layer& layer, const model::Gpu& gpu,
                  const model::GpuPrediction& prediction);

// The costs of layers on one machine. What differs from a known layer in nothing but its name and
// count is not computed again; at most kMostKnown layers are kept.
class LayerCosts {
  public:
    static constexpr std::size_t kMostKnown = std::size_t{1} << 17; // 50 MB

    LayerCosts(const model::Gpu& gpu, SoftwareOf software)
        : gpu_(&gpu), software_(std::move(software)) {}
    LayerCosts(model::Gpu&&, SoftwareOf) = delete; // it refers to its GPU

    const model::Gpu& gpu() const { return *gpu_; }
    std::size_t known() const { return known_.size(); }
    // For what is asked next.
    void set_software(SoftwareOf software) { software_ = std::move(software); }

    // Errors: those of predict().
    Result<LayerCost> of(const model::Layer& layer);
    // Errors: those of predict_layer(), of all layers.
    Result<Costs> of(const Graph& graph);

  private:
    const model::Gpu* gpu_;
    SoftwareOf software_;
    std::map<std::pair<model::Layer, model::Software>, LayerCost> known_;
};

// The same for one program.
Result<Costs> costs_of(const Graph& graph, const model::Gpu& gpu, const SoftwareOf& software);

// Weights of products in fewer bits than they are computed in. What that saves comes off at the
// data sheet's bandwidth, since kernels that turn formats back reach a smaller share of it the
// fewer bytes they move, and only where bytes take longer than arithmetic:
//   t' = max(t - saved / B, flops / peak)
// int4 in groups of 32 with a scale and a zero of 16 bits: 5 bits.
double with_weights_s(const model::Layer& layer, const model::Gpu& gpu, model::DataType weights,
                      double device_s, double flops, double bytes);
// Of all layers.
void cheapen_weights(const Graph& graph, const model::Gpu& gpu, model::DataType weights,
                     Costs& costs);

// A copy over PCIe, pinned: a fixed start and the link's sustained rate (model/gpu/memory_op.hpp).
// Pageable memory is staged through pinned buffers: half of that rate (recalled). 0 where the
// machine has no link.
double copy_seconds(const model::Gpu& gpu, Count bytes, bool pageable);

} // namespace eyeroof::analysis::step
