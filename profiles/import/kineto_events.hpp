// The events of a PyTorch (Kineto) or Chrome trace that matter here, read as a stream.
#pragma once

#include "profiles/byte_source.hpp"
#include "profiles/measurement.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::profiles {

// python: a call of a module, "nn.Module: Linear_0"; other functions of the stack are `other`.
enum class TraceKind { other, kernel, copy, launch_call, cpu_op, annotation, python };
inline constexpr std::string_view kModule = "nn.Module: ";

// What a collective says of itself, in the operator that calls it or in its kernel.
struct Collective {
    std::string name; // "allreduce"; empty for no collective
    std::string type; // "BFloat16"
    std::int64_t in_elements = 0, out_elements = 0;
    std::int64_t ranks = 0;
};

// One complete event ("ph": "X"). Only the fields that its kind has are filled.
struct TraceEvent {
    TraceKind kind = TraceKind::other;
    std::string name;
    double ts_us = 0.0;
    double dur_us = kUnknown;
    bool bad_time = false; // its ts or dur is text that is no number
    std::string thread;    // "pid/tid"; of kernels empty
    std::int64_t external_id = kNone;
    std::int64_t correlation = kNone;
    std::int64_t stream = kNone;
    std::int64_t device = kNone;
    std::int64_t bytes = 0; // of a copy
    // Of an operator that autograd records: the number that its gradient has too, and there the
    // thread of the forward pass, else 0.
    std::int64_t sequence = kNone, forward_thread = 0;
    std::string modules; // "TOP(Net).fc(Linear)", where the profiler wrote it
    Dim3 grid, block;
    Operator op; // dims and types of a cpu_op
    Collective collective;
};

inline constexpr double kLatestUs = 9e15; // beyond, nanoseconds do not fit 63 bits

using EventUse = std::function<void(const TraceEvent&)>;

// Calls `use` for every event that is not `other`; gives the facts of the file's head: the first
// device's name, compute capability, SM count and memory, and how many ranks there are. Errors with
// line and column: not JSON, cut off, nested deeper than 64, no "traceEvents".
Result<RunInfo> read_trace_events(ByteSource& source, const EventUse& use);

// The same facts as far as the beginning of a file has them.
RunInfo run_in_trace_head(std::string_view head);

} // namespace eyeroof::profiles
