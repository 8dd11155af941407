// Examines one layer on one kind of machine.
#pragma once

#include "analysis/exam/best_mappings.hpp"
#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"
#include "base/result.hpp"
#include "model/gpu/predict.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// What all layers of a study share on an accelerator.
struct AcceleratorContext {
    const model::Accelerator& accelerator;
    model::Dataflow dataflow;  // chosen by the options; unrestricted when they free it
    std::string dataflow_text; // its name
    double units = 0.0;        // MAC units
    MappingPolicy policy = MappingPolicy::dataflow; // automatic is decided here
    BestMappings best;                              // searched when the policy is `best`
};

// Errors: "unsupported" for a dataflow that the machine does not have.
Result<AcceleratorContext> accelerator_context(const Question& question,
                                               const model::Accelerator& accelerator);

// Errors: the layer's own; "no-mapping"; "internal-bound" when a physical bound is violated (a
// defect, never an output).
Result<LayerReport> examine(const model::Layer& layer, const AcceleratorContext& context,
                            const Question& question, std::stop_token stop);

MachineSummary summarise(const model::Machine& machine, const AcceleratorContext& context);

// What all layers of a study share on a GPU or a host processor.
struct GpuContext {
    const model::Gpu& gpu;
    model::DataType type = model::DataType::fp32; // of most of the network's arithmetic
    double units = 1.0;                           // MAC per cycle of the pipe that serves it
    double clock_hz = 1.0;                        // of that pipe
};

GpuContext gpu_context(const model::Gpu& gpu, const model::Network& network);

LayerReport layer_report(const step::Graph& program, std::uint32_t layer, const GpuContext& context,
                         const model::GpuPrediction& prediction);

MachineSummary summarise(const model::Machine& machine, const GpuContext& context);

} // namespace eyeroof::analysis
