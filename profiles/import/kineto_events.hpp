// The events of a PyTorch (Kineto) or Chrome trace that matter here, read as a stream.
// Called by the Kineto importer, which joins them.
// Knows the JSON layout; knows nothing of matching.
#pragma once

#include "profiles/byte_source.hpp"
#include "profiles/measurement.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace eyeroof::profiles {

enum class TraceKind { other, kernel, launch_call, cpu_op, annotation };

// One complete event ("ph": "X"). Only the fields that its kind has are filled.
struct TraceEvent {
    TraceKind kind = TraceKind::other;
    std::string name;
    double ts_us = 0.0;
    double dur_us = kUnknown;
    std::string thread; // "pid/tid"; of kernels empty
    std::int64_t external_id = kNone;
    std::int64_t correlation = kNone;
    std::int64_t stream = kNone;
    std::int64_t device = kNone;
    Dim3 grid, block;
    Operator op; // dims and types of a cpu_op
};

using EventUse = std::function<void(const TraceEvent&)>;

// Calls `use` for every event that is not `other`; gives the facts of the file's head: the first
// device's name, compute capability and SM count. Errors with line and column: not JSON, cut off,
// nested deeper than 64, no "traceEvents".
Result<RunInfo> read_trace_events(ByteSource& source, const EventUse& use);

} // namespace eyeroof::profiles
