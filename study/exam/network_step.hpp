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

// The upper end, s, of the interval of a step of several executions that takes time_s, from high_s,
// what the operators' own errors make of it: a step has more in it than its operators.
double step_high_s(double time_s, double high_s);

// Sets report.total.time_s to the step that host and device make (model/gpu/step.hpp), total.host_s
// and device_s, and each layer's wait_s, so that the sum of count x (device_s + wait_s) is the
// step. Layers keep the time that they take alone. The total's interval keeps its width relative to
// the time, and widens upwards by what a step has beside its operators. A network of one execution
// is that layer alone, and stays as it is.
void add_step(const StudyOptions& options, Report& report);

} // namespace eyeroof::study
