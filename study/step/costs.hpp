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

// A copy over PCIe, pinned: a fixed start and the link's sustained rate (model/gpu/memory_op.hpp).
// Pageable memory is staged through pinned buffers: half of that rate (recalled). 0 where the
// machine has no link.
double copy_seconds(const model::Gpu& gpu, model::Count bytes, bool pageable);

} // namespace eyeroof::study::step
