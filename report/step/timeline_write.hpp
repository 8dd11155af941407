// A timeline, and the ways to copy and to launch, as answers; a timeline as a trace for Chrome or
// Perfetto.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/step/copy_ways.hpp"
#include "analysis/step/launch_ways.hpp"
#include "report/answer/answer.hpp"

#include <string>

namespace eyeroof::report {

// Of a GPU or host processor.
struct TimelineReport {
    const analysis::Report& report;
    const model::Gpu& gpu;

    const analysis::step::Graph& graph() const { return report.program; }
    const analysis::step::Timeline& timeline() const { return report.timeline; }
};

// Its picture reads the report.
Answer timeline_answer(const TimelineReport& report);
Answer copies_answer(const analysis::step::CopyWays& found);
Answer launches_answer(const analysis::step::LaunchWays& found);

// Complete events ("ph": "X", microseconds) on threads of a process for the host and one for the
// device; the categories and argument names are those of PyTorch's profiler ("cpu_op", "kernel",
// "gpu_memcpy"; "correlation"), so that a measured trace and this one open side by side.
std::string timeline_trace(const TimelineReport& report);

} // namespace eyeroof::report
