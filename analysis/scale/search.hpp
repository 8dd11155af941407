// The best strategy for a number of devices: decoders by plans that fit memory, other networks by a
// choice for each layer.
#pragma once

#include "analysis/scale/split.hpp"
#include "analysis/scale/transformer_step.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

// Every plan of degrees that divide the devices (tensor up to 64, stages even and balanced, context
// from sequences of 16,384 words on), microbatches up to 16, interleaving, recomputation, ZeRO 0
// to 3, that fits memory. Exact within that space: plans are left out only where their kernels
// alone take longer than the best. `points` of the answer are the best plans, fastest first.
// Errors: "no-plan", saying what comes nearest to fitting.
struct PlanSearch {
    std::vector<Plan> plans; // fastest first, at most `kept`
    std::vector<TransformerStep> steps;
    std::uint64_t evaluated = 0, left_out = 0, too_large = 0;
    double bound_s = 0.0; // no plan is faster: kernels of the best cut, spread evenly
};
Result<PlanSearch> search_plans(BlockExams& exams, const model::Fabric& fabric, Count devices,
                                std::size_t kept = 5, std::stop_token stop = {});

// As a scaling study: for every number of devices the best plan.
Result<ScaleResult> search_transformer(const Transformer& t, const model::Machine& machine,
                                       const model::Fabric& fabric,
                                       const std::vector<Count>& devices,
                                       const TransformerOptions& options, std::stop_token stop = {},
                                       const ProgressCallback& progress = {});

// Data parallel (every device its samples, gradients summed) or model parallel (every device its
// output features of all samples) for each layer with weights; between them activations are
// gathered, scattered or exchanged. Exact by dynamic program over the chain.
struct LayerWay {
    std::string name;
    bool model_parallel = false;
    double data_s = 0.0, model_s = 0.0; // of the layer in either way, kernels and gradients
    double change_s = 0.0;              // activations before it

    bool operator==(const LayerWay&) const = default;
};
struct LayerSearch {
    std::vector<LayerWay> layers;
    double time_s = 0.0; // of a step
    double all_data_s = 0.0, all_model_s = 0.0;

    bool operator==(const LayerSearch&) const = default;
};
// `batch` samples over all devices. Errors: those of run(); "too-small-batch".
Result<LayerSearch> search_layers(const Question& question, const model::Fabric& fabric,
                                  Count devices, Count batch, const ScaleOptions& options,
                                  std::stop_token stop = {});

} // namespace eyeroof::analysis
