// A timeline as text, JSON, a picture and a trace for Chrome or Perfetto. Computes nothing but sums
// that it prints.
#pragma once

#include "analysis/exam/report.hpp"

#include <string>

namespace eyeroof::report {

// Of a GPU or host processor.
struct TimelineReport {
    const analysis::Report& report;
    const model::Gpu& gpu;

    const analysis::step::Graph& graph() const { return report.program; }
    const analysis::step::Timeline& timeline() const { return report.timeline; }
};

std::string timeline_text(const TimelineReport& report, std::size_t most_rows = 15);
std::string timeline_json(const TimelineReport& report); // eyeroof/timeline/1
std::string timeline_svg(const TimelineReport& report);
std::string timeline_html(const TimelineReport& report); // the picture and the text in one file

// Complete events ("ph": "X", microseconds) on threads of a process for the host and one for the
// device; the categories and argument names are those of PyTorch's profiler ("cpu_op", "kernel",
// "gpu_memcpy"; "correlation"), so that a measured trace and this one open side by side.
std::string timeline_trace(const TimelineReport& report);

} // namespace eyeroof::report
