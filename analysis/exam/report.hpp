// The report: a scenario, the program that it lowers to, and its costs, as plain values.
// run() makes it. Writers, plots, the command line, and the explorer read it and compute
// nothing.
#pragma once

#include "analysis/exam/measurement_report.hpp"
#include "analysis/program/memory.hpp"
#include "analysis/program/timeline.hpp"
#include "analysis/scenario/scenario.hpp"
#include "mapper/search.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/eyexam/chain.hpp"
#include "model/eyexam/limits.hpp"
#include "model/gpu/kernel_form.hpp"
#include "model/workload/layer.hpp"
#include "model/workload/problem.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// Bytes that a level sends down or receives for one operand, all instances, one execution.
struct TrafficRow {
    std::string level;
    std::string tensor; // "input", "weight", "output"
    Count read_bytes = 0;
    Count write_bytes = 0;
    double energy_j = 0.0;
    Count tile_bytes = 0; // that one instance of the level holds at a time

    bool operator==(const TrafficRow&) const = default;
};

struct ActiveUnits {
    double allocated = 0.0; // given work at some time
    double averaged = 0.0;  // over the compute cycles

    bool operator==(const ActiveUnits&) const = default;
};

// Where the time of one execution goes; the parts add up to time_s.
struct TimeSplit {
    double compute_s = 0.0;       // every allocated unit at work
    double on_chip_stall_s = 0.0; // waiting for on-chip networks, ramp-up, drain
    double dram_stall_s = 0.0;    // what the outermost memory adds to all else, at its real pace
    double overhead_s = 0.0;      // launch and host time, on GPUs

    bool operator==(const TimeSplit&) const = default;
};

// One layer. Everything is for one execution; `count` says how often the network runs it.
struct LayerReport {
    model::Layer layer;
    model::Issued kind = model::Issued::forward; // what its runs are in a training step
    Count macs = 0;
    Count flops = 0;
    Count bytes = 0; // compulsory: see model/accelerator/residency.hpp
    // MAC per cycle of the machine's clock that the units serving this layer's type do: GPUs have
    // another pipe for another type. 0: the machine's; see units_of in report_figures.hpp.
    double units = 0.0;
    model::Chain steps;         // of the mapping
    model::Chain machine_steps; // no mapping can do better
    ActiveUnits active;
    double cycles = 0.0;
    double time_s = 0.0;            // of the kernel on GPUs; with stalls on the outermost memory
    double processing_time_s = 0.0; // without them: time_s - split.dram_stall_s
    double wait_s = 0.0;            // in the step: the GPU idle before a run of it, on average
    std::optional<double> low_s;    // interval of the prediction, where its error is known
    std::optional<double> high_s;
    TimeSplit split;
    double utilization = 0.0;     // macs / (units * cycles), units of this layer
    std::size_t limiter_step = 0; // 1 … 7: the binding step; see model/eyexam/limits.hpp
    std::string limiter;          // its limit in words
    model::Limit limit = model::Limit::arithmetic;
    model::Limits limits; // seconds: counterfactuals, shares that add up to time_s
    double energy_j = 0.0;
    double leakage_j = 0.0;               // of energy_j, what leaked while time went by
    bool measured_power = false;          // energy_j is of the measured power of such kernels
    double clock_hz = 0.0;                // that the prediction counts on; 0: the machine's
    std::vector<TrafficRow> traffic;      // outermost level first
    double outer_bytes = 0.0;             // moved at the outermost level, for the roofline
    double zeros_bytes = 0.0;             // that coding zeros away spares there
    double l2_bytes = 0.0;                // of products on a GPU, through its L2; else 0
    std::vector<model::Mapping> mappings; // one per nest of the layer; empty on GPUs
    std::vector<mapper::Certificate> certificates; // of searched mappings, as `mappings`
    std::optional<model::KernelForm> kernel;       // of the library, on GPUs
    std::string mapping_text;                      // readable, also on GPUs
    std::vector<std::string> notes;
    std::optional<LayerMeasurement> measured; // where a profile was laid over the report
    std::optional<MeasuredRoof> roof;         // where measured ceilings were

    bool operator==(const LayerReport&) const = default;
};

struct Total {
    double macs = 0.0;
    double flops = 0.0;
    double time_s = 0.0;
    double processing_time_s = 0.0;
    // Of a GPU: CPU launch overhead of all operators, and all kernels. time_s is the step that they
    // make together (analysis/program/timeline.hpp). Zeros elsewhere.
    double host_s = 0.0;
    double device_s = 0.0;
    std::optional<double> low_s;
    std::optional<double> high_s;
    double energy_j = 0.0;
    double leakage_j = 0.0; // of energy_j
    double outer_bytes = 0.0;
    double utilization = 0.0;    // time that all MACs take at each layer's own peak / time
    double averaged_units = 0.0; // weighted by processing time

    bool operator==(const Total&) const = default;
};

// A loss worth looking at: what the network would save if this step alone cost this layer nothing
// (the counterfactual of model/eyexam/limits.hpp). Two of one layer do not add up.
struct Loss {
    std::size_t layer = 0; // index into layers
    std::size_t step = 0;  // 1 … 7
    double lost_s = 0.0;   // over all executions

    bool operator==(const Loss&) const = default;
};

struct MachineSummary {
    std::string id;
    std::string name;
    std::string kind;   // "accelerator", "gpu", "host"
    double units = 0.0; // MAC per cycle at most; on GPUs of the type with most MACs
    double clock_hz = 0.0;
    double peak_macs_per_s = 0.0;
    double outer_bytes_per_s = 0.0; // of the outermost memory
    std::string dataflow;
    std::vector<std::string> weak_sources; // field paths whose numbers are unsourced
    std::string compute_capability = {};   // of a GPU: "8.0"
    int sms = 0;                           // of a GPU

    bool operator==(const MachineSummary&) const = default;
};

// Of an accelerator's chip by the estimates of model/technology; see analysis/chip.
struct ChipFigures {
    double process_nm = 0.0;
    double area_mm2 = 0.0;
    double energy_j = 0.0; // on the chip, over the network: switching alone
    double power_w = 0.0;
    std::string confidence; // of the least certain number in them

    double energy_j_per_mm2() const { return energy_j / area_mm2; }
    bool operator==(const ChipFigures&) const = default;
};

// Memory of a step on a device, bytes.
struct MemoryFit {
    Count peak_bytes = 0;
    Count limit_bytes = 0; // that the device has for tensors
    // Samples, as --batch takes them; 0: not one batch fits. Nothing: not searched for.
    std::optional<Count> largest_batch;
    bool chain = false; // the network has no graph: every layer reads the one before it

    bool fits() const { return peak_bytes <= limit_bytes; }
    bool operator==(const MemoryFit&) const = default;
};

// The one resource of which twice as much gains most, or the power cap whose end gains more:
// analysis/what_if/headline.hpp. Empty texts: none gains.
struct Headline {
    std::string resource; // "DRAM bandwidth", "CPU launch overhead", "power cap"
    std::string what;     // to have: "twice the host's launch speed", "no power cap"
    std::string option;   // of the command line: "--host-speed 2", "without --power-cap"
    double time_s = 0.0;  // of the step with it
    double saved_s = 0.0;
    bool capped = false; // a power cap is in force

    bool operator==(const Headline&) const = default;
};

// What a trace says of the step, beside the prediction.
struct TracedStep {
    double step_s = 0.0;     // from the first kernel to the last
    double kernels_s = 0.0;  // computation, communication, copies
    double compared_s = 0.0; // of kernels that are predicted and can be compared
    double predicted_s = 0.0;

    bool operator==(const TracedStep&) const = default;
};

struct Report {
    Scenario scenario;
    std::string words; // the scenario in a sentence, with the defaults that it takes
    step::Graph program;
    step::Timeline timeline;            // of GPUs and host processors
    std::optional<step::Memory> memory; // of whole networks
    std::optional<MemoryFit> fit;       // the same, where the device has memory of its own
    Count batch = 1;                    // samples of the step
    std::string host;                   // that launches the kernels, by name
    double uncosted_share = 0.0;        // of the network's operators, without a cost
    MachineSummary machine;
    std::string network_id;
    std::string network_name;
    std::vector<LayerReport> layers;
    Total total;
    std::vector<Loss> worst;          // three, largest first
    std::optional<Headline> headline; // where it was looked for
    std::optional<Measurement> measured;
    std::optional<TracedStep> traced; // of a trace on its own GPU
    std::vector<CeilingRow> ceilings;
    std::optional<ChipFigures> chip; // where the process is known

    bool operator==(const Report&) const = default;
};

} // namespace eyeroof::analysis
