// A step on a GPU or host processor: the report of every operator, and the timeline of host and
// device.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/scenario/question.hpp"

#include <stop_token>

namespace eyeroof::analysis {

// How the scenario launches a program on this device.
step::TimelineOptions timeline_options(const Question& question, const model::Gpu& gpu);

// Layers, totals, timeline and memory of a lowered program. The total is the timeline's makespan;
// each layer's wait_s is the mean time that the GPU is idle before one of its runs, so that the sum
// of count x (time_s + wait_s) is at most the step with one stream. The total's interval is as
// wide, relative to the time, as the layers' errors make it, and wider upwards by what a step has
// beside its operators. Errors: those of predict(); "unsupported-type".
Result<Report> examine_on_gpu(const Question& question, step::Graph program, const model::Gpu& gpu,
                              const ProgressCallback& progress, const std::stop_token& stop);

} // namespace eyeroof::analysis
