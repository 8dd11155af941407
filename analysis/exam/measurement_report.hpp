// A measurement beside a report: the step below seven, and the steps whose counters disagree.
// Filled by lay_profile and lay_ceilings; part of the report that the writers show.
#pragma once

#include "profiles/matching.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// One counter that differs from its predicted value.
struct Disagreement {
    std::size_t step = 0; // 1 … 7: the step whose constraint the counter measures
    std::string
        quantity; // "DRAM bytes", "operations", "clock", "launch gaps", "tensor pipe active"
    double predicted = 0.0;
    double measured = 0.0;
    std::string unit; // "B", "FLOP", "Hz", "s", "%"
    // What it adds to the time of one execution (negative: saves) when it takes the place of the
    // predicted figure, those before it already in place. Nothing where the figure is a symptom
    // that cannot be turned into time.
    std::optional<double> accounts_s;

    bool operator==(const Disagreement&) const = default;
};

struct LevelMeasurement {
    std::string level; // "dram", "l2", "l1", "shared"
    double bytes = 0.0;

    bool operator==(const LevelMeasurement&) const = default;
};

// One layer; everything is for one execution, the mean over all that were measured.
struct LayerMeasurement {
    double kernel_s = 0.0; // time on the device
    std::optional<double>
        gap_s;                // device idle before and between its kernels, where starts are known
    double time_s = 0.0;      // kernel_s + gap_s
    double predicted_s = 0.0; // compared prediction; excludes launches where gaps are unknown
    double unexplained_s = 0.0;      // time_s - predicted_s
    double remaining_s = 0.0;        // unexplained_s without what the disagreements account for
    std::optional<bool> in_interval; // of the prediction, where it has one
    std::int64_t executions = 0;
    bool executions_assumed = false; // from the launches of equal kernels; nothing numbers them
    std::int64_t launches = 0;       // of all executions
    std::string kernel;              // the one that took longest
    bool under_replay = false;       // times were taken while counters were replayed
    profiles::MatchMethod method = profiles::MatchMethod::none; // the weakest of its launches
    double confidence = 0.0;                                    // likewise
    std::optional<double> flops;                                // counted
    std::string pipe;                 // that did most of them: "fp16 tensor"
    std::optional<double> type_share; // of them in the layer's own data type
    profiles::WorkCheck work_check = profiles::WorkCheck::unknown; // counted against 2MNK
    std::vector<LevelMeasurement> bytes;                           // counted
    std::optional<double> clock_hz, tensor_active_percent, occupancy_percent; // weighted by time
    std::vector<Disagreement> disagreements; // the most telling first

    bool operator==(const LayerMeasurement&) const = default;
};

struct UnmatchedKernel {
    std::string name;
    std::int64_t calls = 0;
    double time_s = 0.0;

    bool operator==(const UnmatchedKernel&) const = default;
};

// The whole profile against the whole report; sums are over the layers that were measured, times
// their counts.
struct Measurement {
    std::vector<std::string> facts; // "NVIDIA H200", "driver 580.1", "command ./app", …
    std::vector<std::string> notes; // of the profile
    double predicted_s = 0.0;
    double measured_s = 0.0;
    double unexplained_s = 0.0;
    double remaining_s = 0.0;
    std::size_t layers = 0;                 // that were measured
    std::vector<Disagreement> by_step;      // summed over the layers: step, quantity, accounts_s
    double matched_share = 0.0;             // of the profile's time
    std::vector<UnmatchedKernel> unmatched; // longest first
    double unmatched_s = 0.0;

    bool operator==(const Measurement&) const = default;
};

// A measured ceiling beside what the machine's description says; neither replaces the other.
struct CeilingRow {
    std::string name;      // "dram read"
    std::string level;     // of a bandwidth; empty otherwise
    std::string precision; // of an arithmetic rate; empty otherwise
    std::string pipe;
    double described = 0.0; // byte/s, operation/s or s; 0: the description has no such number
    double measured = 0.0;
    double spread = 0.0;
    std::string how;

    bool operator==(const CeilingRow&) const = default;
};

// The least time that the measured ceilings allow for a layer's operations and predicted bytes.
struct MeasuredRoof {
    double time_s = 0.0;
    std::string by; // the ceiling that won

    bool operator==(const MeasuredRoof&) const = default;
};

} // namespace eyeroof::analysis
