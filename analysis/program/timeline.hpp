// The timeline of a step: a host thread that launches, streams that run kernels, copy engines.
// Kernel times come from costs.hpp.
#pragma once

#include "analysis/program/costs.hpp"
#include "analysis/program/graph.hpp"
#include "analysis/scenario/scenario.hpp"

#include <string_view>
#include <vector>

namespace eyeroof::analysis::step {

struct TimelineOptions {
    model::Launch launch = model::Launch::eager;
    bool compiled =
        false; // kernels are launched from generated code, not by a framework's operators
    model::HostIssue host;
    int streams = 1; // independent operators run side by side where the GPU has room
    Copies copies = Copies::none;
    bool pageable = false; // copies at half the rate, and the host waits for them
};

// What an operator's start waited for last.
enum class Waited { nothing, host, stream, operand, copy, room };
std::string_view waited_text(Waited waited);

struct Span {
    double issue_s = 0.0;  // the host begins to issue it
    double issued_s = 0.0; // and is done
    double start_s = 0.0;  // the kernel starts
    double end_s = 0.0;
    double kernel_s = 0.0; // its length: the difference of late times would lose digits
    std::uint16_t stream = 0;
    Waited waited = Waited::nothing;
    OperatorId before = kNone; // the operator that it waited for; none: the host, or a copy

    bool operator==(const Span&) const = default;
};

struct CopySpan {
    TensorId tensor = kNone;
    bool to_device = true;
    double start_s = 0.0, end_s = 0.0;

    bool operator==(const CopySpan&) const = default;
};

struct Timeline {
    std::vector<Span> spans; // beside Graph::operators
    std::vector<CopySpan> copies;
    double time_s = 0.0;      // from the first issue to the last end
    double host_s = 0.0;      // of the CPU's launches
    double busy_s = 0.0;      // that at least one kernel runs
    double kernels_s = 0.0;   // of all kernels; more than busy_s where some run side by side
    double wait_host_s = 0.0; // no kernel runs, and the next is not issued yet
    double wait_copy_s = 0.0; // no kernel runs, and the next waits for a copy
    double end_s = 0.0;       // no kernel runs any more: last copies
    // As wide, relative to time_s, as the kernels' intervals, and upwards by what a step has beside
    // its operators: step_high_s().
    double low_s = 0.0, high_s = 0.0;

    bool operator==(const Timeline&) const = default;
};

// Round values of a server of 2020, for machines of which none is known.
model::HostIssue textbook_host();

// The upper end, s, of the interval of a step of several operators that takes time_s, from high_s,
// what the operators' own errors make of it: a step has more in it than its operators.
double step_high_s(double time_s, double high_s);

// A kernel starts when it was issued, its operands are there, its stream is free and there is room
// for it on the GPU:  start_i = max(issued_i, end of its stream, ready of its operands), with
// issued_i = issued_{i-1} + host_i. One stream is the recurrence of model/gpu/step.hpp, operator by
// operator. With more, an operator goes to the stream of what it waits for longest, where it is
// that stream's last, else to the one that is free first; kernels run side by side while their
// shares of the GPU are at most 1. A captured graph is one launch, then a node's time
// for each further kernel; compiled code launches what it does not capture at the cost of a
// gradient's call, without Python's dispatch. Launch::none: kernels alone. On a host processor
// nothing overlaps: a call, then the work. Time and memory are linear in operators.
Timeline simulate(const Graph& graph, const Costs& costs, const model::Gpu& gpu,
                  const TimelineOptions& options);

// One stretch of the longest way through the step, from its end to its start.
struct PathPart {
    enum class Kind { host, kernel, copy } kind = Kind::kernel;
    OperatorId op = kNone; // of a kernel; of the host: the operator whose issue ends the stretch
    double seconds = 0.0;

    bool operator==(const PathPart&) const = default;
};
std::vector<PathPart> critical_path(const Graph& graph, const Timeline& timeline);

// Where the time goes, by operators that are alike; the longest first.
struct LayerTime {
    std::uint32_t layer = 0;
    std::size_t runs = 0;
    double kernels_s = 0.0;     // of all runs
    double waits_s = 0.0;       // of all runs: the GPU idle before them, waiting for the host
    std::size_t host_bound = 0; // runs that started as they were issued, the GPU idle before

    bool operator==(const LayerTime&) const = default;
};
std::vector<LayerTime> by_layer(const Graph& graph, const Timeline& timeline);

} // namespace eyeroof::analysis::step
