// The analysis of a trace by itself: where the time of the step goes, each operator beside its
// bound, and the changes that save time. `eyeroof import`, and `eyeroof exam` of a trace.
// Reads the trace's network; a report of predictions is optional.
#pragma once

#include "analysis/exam/report.hpp"
#include "analysis/measured/critical_path.hpp"
#include "formats/trace_network.hpp"
#include "hwdb/folders.hpp"
#include "model/machine/machine.hpp"
#include "profiles/device_time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// One operator and shape; times are of all its runs in the step.
struct TracedRow {
    std::string layer, op, dims;
    std::string category; // "GEMM", "attention", "norm", "pointwise", …
    formats::Found found = formats::Found::exact;
    std::string why; // what was assumed
    Count count = 1;
    double measured_s = 0.0;
    double share = 0.0;              // of all kernels and copies of the step
    double flops = 0.0, bytes = 0.0; // compulsory, of all runs
    // Of those runs during which no kernel of another stream ran: what a prediction can be held
    // against.
    Count alone_runs = 0;
    double alone_s = 0.0;
    std::optional<double> bound_s;     // the higher of arithmetic and memory, where a GPU is known
    std::optional<double> predicted_s; // where a report is beside it, of all runs
    std::optional<double> low_s, high_s; // 80 % interval of it, with what a trace leaves open
    bool inside_model = false;           // the runs alone lie inside the model's own interval
    std::string doubt;        // what its kernel does that the prediction does not know; else empty
    std::string not_compared; // why prediction and measurement are not of one thing; else empty
    std::string bound_by;     // "DRAM", "fp16 arithmetic", "PCIe", "link to peers"
    std::string cause; // why it lies above its roof, or what keeps it below; empty: not known

    bool above_roof() const { return bound_s && measured_s < *bound_s; }
    // Could it be shown on a roofline: a rate, and an intensity or a bandwidth.
    bool placed() const { return measured_s > 0.0 && (flops > 0.0 || bytes > 0.0); }
    // Measured over predicted, of runs that had the device for themselves.
    std::optional<double> ratio() const;
    bool inside() const; // the interval
    double saves_s() const { return bound_s ? std::max(0.0, measured_s - *bound_s) : 0.0; }
    bool operator==(const TracedRow&) const = default;
};

// A kernel or copy of the step's timeline, from its first.
struct TracedLaunch {
    double start_s = 0.0, duration_s = 0.0;
    std::int64_t stream = 0;
    std::int32_t row = -1;    // of Traced::rows; -1: of no layer
    std::uint32_t kernel = 0; // of Traced::kernels
    bool backward = false;

    bool operator==(const TracedLaunch&) const = default;
};

// A peak of arithmetic, or a bandwidth, of the GPU by its data sheet.
struct TracedRoof {
    std::string name;  // "bf16", "DRAM"
    double rate = 0.0; // FLOP/s or B/s
    bool is_bandwidth = false;

    bool operator==(const TracedRoof&) const = default;
};

// Predicted against measured kernel time, of operators and shapes that can be compared.
struct TracedComparison {
    std::string name; // of the category; "all"
    std::int64_t rows = 0;
    double median_error = 0.0;                  // of |predicted / measured - 1|
    double bias = 1.0;                          // median of predicted / measured
    double coverage = 0.0;                      // share of rows inside their intervals
    double model_coverage = 0.0;                // inside the model's own interval
    double measured_s = 0.0, predicted_s = 0.0; // of the runs that are compared

    bool operator==(const TracedComparison&) const = default;
};
// Rows that are not compared, by reason.
struct TracedLeftOut {
    std::string why;
    std::int64_t rows = 0;
    double measured_s = 0.0;

    bool operator==(const TracedLeftOut&) const = default;
};

// Kernels by the class path of the modules that launched them: "Encoder/Layer" stands for all
// instances. A parent contains its children.
struct TracedModule {
    std::string path;
    std::int64_t instances = 0, kernels = 0;
    double forward_s = 0.0, backward_s = 0.0;
    std::optional<double> predicted_s; // where every kernel's layer is predicted and compared

    double measured_s() const { return forward_s + backward_s; }
    bool operator==(const TracedModule&) const = default;
};

// A kernel of no operator of known work, by what its name says.
struct TracedKernel {
    std::string name, category; // "GEMM", "communication (DeepEP)", …; "other"
    std::string says;           // type and tile: "bf16, tiles of 128x256"; empty: nothing
    std::int64_t runs = 0;
    double measured_s = 0.0;

    bool operator==(const TracedKernel&) const = default;
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
    std::vector<TracedKernel> unknown;         // of no operator of known work, longest first
    std::vector<std::string> notes;            // what a reader must know first
    std::vector<TracedChange> changes;         // those that save most first
    std::vector<TracedComparison> comparisons; // "all" first; empty without predictions
    std::vector<TracedLeftOut> left_out;       // the longest first
    std::vector<TracedModule> modules;         // in order of path
    double forward_s = 0.0, backward_s = 0.0;  // of kernels, where the trace tells them apart
    std::optional<CriticalPath> path;          // of the step
    std::vector<TracedLaunch> launches;        // in order of start
    std::vector<std::string> kernels;          // names, by TracedLaunch::kernel
    std::vector<TracedRoof> roofs;
    double beside_s = 0.0; // that kernels take longer while another stream's run
    double kernel_s = 0.0, layered_s = 0.0;
    double l2_bytes = 0.0;

    double layered_share() const { return kernel_s > 0.0 ? layered_s / kernel_s : 0.0; }
    double placed_share() const;
    bool operator==(const Traced&) const = default;
};

// True where its times are those of the scenario: the sizes and types that ran, on that GPU.
bool ran_as_asked(const formats::TraceNetwork& trace, const Scenario& scenario,
                  hwdb::Folders machines);

// "GEMM", "attention", "norm", "pointwise", "communication", …: what a table of operators sums up.
std::string traced_category(const model::Layer& layer);

// `machine` and `report` may be null. Errors: those of counting a layer's work.
Result<Traced> traced(const formats::TraceNetwork& trace, const model::Machine* machine,
                      const Report* report = nullptr);

// A product's matrices of several columns have rows that are no multiple of 16 bytes, the widest
// load.
bool rows_unaligned(const model::Layer& layer);

// Its sums, for the answer of an exam.
TracedStep traced_step(const Traced& traced);

} // namespace eyeroof::analysis
