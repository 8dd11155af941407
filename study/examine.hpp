// Examines one layer on one kind of machine; run.cpp strings layers into a report.
// Called by run.cpp only, one overload per kind of machine.
// Knows no file format and no display.
#pragma once

#include "model/base/result.hpp"
#include "model/machine.hpp"
#include "study/report.hpp"
#include "study/run.hpp"

#include <stop_token>

namespace eyeroof::study {

// What all layers of a study share on an accelerator.
struct AcceleratorContext {
    const model::Accelerator& accelerator;
    model::Dataflow dataflow; // chosen by the options
    double units = 0.0;       // MAC units
};

// Errors: "unsupported" for a dataflow that the machine does not have.
model::Result<AcceleratorContext> accelerator_context(const model::Machine& machine,
                                                      const model::Accelerator& accelerator,
                                                      const StudyOptions& options);

// Errors: the layer's own; "no-mapping"; "internal-bound" when a physical bound is violated (a
// defect, never an output).
model::Result<LayerReport> examine(const model::Layer& layer, const AcceleratorContext& context,
                                   const StudyOptions& options, std::stop_token stop);

MachineSummary summarise(const model::Machine& machine, const AcceleratorContext& context);

} // namespace eyeroof::study
