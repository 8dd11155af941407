// A network's step on a GPU: host and device together, not the sum of its layers' times.
// Called by run() once all layers are examined and summed.
// Knows no machine file.
#pragma once

#include "study/exam/report.hpp"
#include "study/exam/run.hpp"

namespace eyeroof::study {

// Round values of a server of 2020, for callers who name no host.
model::HostIssue textbook_host();

// Whether the layer was made by training_step(): an update of weights, a gradient, or neither.
model::Issued issued_as(const model::Layer& layer);

// Sets report.total.time_s to the step that host and device make (model/gpu/step.hpp), total.host_s
// and device_s, and each layer's wait_s, so that the sum of count x (device_s + wait_s) is the
// step. Layers keep the time that they take alone. The total's interval keeps its width relative to
// the time. A network of one execution is that layer alone, and stays as it is.
void add_step(const StudyOptions& options, Report& report);

} // namespace eyeroof::study
