// What a trace says by itself: where the step's time goes, each operator beside its bound, and what
// would change it. Called by `eyeroof import` and by `exam` of a trace.
// Reads the trace's network; a report of predictions may stand beside it.
#pragma once

#include "analysis/exam/report.hpp"
#include "formats/trace_network.hpp"
#include "model/machine/machine.hpp"
#include "profiles/device_time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// One operator and shape; times are of all its runs in the step.
struct TracedRow {
    std::string layer, op, dims;
    formats::Found found = formats::Found::exact;
    std::string why; // what was assumed
    Count count = 1;
    double measured_s = 0.0;
    double share = 0.0;                // of all kernels and copies of the step
    double flops = 0.0, bytes = 0.0;   // compulsory, of all runs
    std::optional<double> bound_s;     // the higher of arithmetic and memory, where a GPU is known
    std::optional<double> predicted_s; // where a report is beside it
    std::string bound_by;              // "DRAM", "fp16 arithmetic", "PCIe", "link to peers"
    std::string cause; // why it lies above its roof, or what keeps it below; empty: not known

    bool above_roof() const { return bound_s && measured_s < *bound_s; }
    // Could it be shown on a roofline: a rate, and an intensity or a bandwidth.
    bool placed() const { return measured_s > 0.0 && (flops > 0.0 || bytes > 0.0); }
    double saves_s() const { return bound_s ? std::max(0.0, measured_s - *bound_s) : 0.0; }
    bool operator==(const TracedRow&) const = default;
};

struct TracedCategory {
    std::string name; // "GEMM", "attention", "norm", "pointwise", …
    std::int64_t runs = 0;
    double measured_s = 0.0;
    double share = 0.0;

    bool operator==(const TracedCategory&) const = default;
};

// A change of the program that the trace calls for, and at most how much of the step it saves.
struct TracedChange {
    std::string what, why;
    double saves_s = 0.0;

    bool operator==(const TracedChange&) const = default;
};

struct Traced {
    std::string step, gpu, machine; // the machine is empty where the catalog has not that GPU
    std::optional<profiles::DeviceTime> device;
    std::vector<TracedRow> rows; // longest first
    std::vector<TracedCategory> categories;
    std::vector<TracedChange> changes; // those that save most first
    double kernel_s = 0.0, layered_s = 0.0;
    double l2_bytes = 0.0;

    double layered_share() const { return kernel_s > 0.0 ? layered_s / kernel_s : 0.0; }
    double placed_share() const;
    bool operator==(const Traced&) const = default;
};

// `machine` and `report` may be null. Errors: those of counting a layer's work.
Result<Traced> traced(const formats::TraceNetwork& trace, const model::Machine* machine,
                      const Report* report = nullptr);

std::string traced_text(const Traced& traced); // sections for a terminal

} // namespace eyeroof::analysis
