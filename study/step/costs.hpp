// How long each operator of a graph takes on a GPU or a host, once for all that are alike.
// Made from the time model; read by the timeline and the remedies.
// Knows no order and no queue.
#pragma once

#include "model/base/result.hpp"
#include "model/gpu/gpu.hpp"
#include "study/step/graph.hpp"

#include <vector>

namespace eyeroof::study::step {

struct LayerCost {
    double device_s = 0.0; // the kernels alone, in a run of many
    double alone_s = 0.0;  // one call, launch included
    double low_s = 0.0;    // of alone_s
    double high_s = 0.0;
    double share = 1.0; // of the GPU that is taken while it runs: SMs or DRAM, whichever is more
    double bytes = 0.0; // moved at DRAM
    double flops = 0.0;
    // Of operators bound by memory: parts of device_s (model/gpu/memory_op.hpp); zeros elsewhere.
    double moved_s = 0.0, sm_s = 0.0;

    bool operator==(const LayerCost&) const = default;
};

struct Costs {
    std::vector<LayerCost> layers; // beside Graph::layers
};

// Errors: those of predict(), each with its layer's name.
model::Result<Costs> costs_of(const Graph& graph, const model::Gpu& gpu, model::Launch launch);
model::Result<LayerCost> cost_of_layer(const model::Layer& layer, const model::Gpu& gpu,
                                       model::Launch launch);

// Weights of products in fewer bits than they are computed in. What that saves comes off at the
// data sheet's bandwidth, since kernels that turn formats back reach a smaller share of it the
// fewer bytes they move, and only where bytes take longer than arithmetic:
//   t' = max(t - saved / B, flops / peak)
// int4 in groups of 32 with a scale and a zero of 16 bits: 5 bits.
void cheapen_weights(const Graph& graph, const model::Gpu& gpu, model::DataType weights,
                     Costs& costs);

// A copy over PCIe, pinned: a fixed start and the link's sustained rate (model/gpu/memory_op.hpp).
// Pageable memory is staged through pinned buffers: half of that rate (recalled). 0 where the
// machine has no link.
double copy_seconds(const model::Gpu& gpu, model::Count bytes, bool pageable);

} // namespace eyeroof::study::step
