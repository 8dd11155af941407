// What is kept of a trace while its events are joined, and which operator says a kernel's work.
#pragma once

#include "profiles/measurement.hpp"

#include <cmath>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eyeroof::profiles {

// Compact, because a trace holds millions: everything that is text lives in a table.
struct Span {
    double start_us = 0.0, end_us = 0.0;
    std::int64_t sequence = kNone; // of an operator that autograd records
    std::int32_t op = kNone;       // an operator …
    std::int32_t range = kNone;    // … or an annotation …
    std::int32_t module = kNone;   // … or a module: its name, among the ranges
    bool backward : 1 = false;     // it computes the gradient of the sequence number
    bool carries_shape : 1 = false;
    bool marks_step : 1 = false;  // a range that an inference engine opens for each step
    bool says_work : 1 = false;   // its dimensions alone
    bool has_tensors : 1 = false; // of known dimensions
    bool is_view : 1 = false;
};
struct Call {
    std::int64_t correlation = 0;
    std::uint32_t order = 0; // of two with one correlation the last holds
    std::uint32_t thread = 0;
    double at_us = 0.0;
    bool graph = false; // launches a graph: the operators around it are none of its kernels'
};
// The operator that an External id names.
struct Named {
    std::int64_t id = 0;
    std::uint32_t order = 0;
    std::int32_t op = kNone;
};
struct TracedKernel {
    double start_us = 0.0, dur_us = 0.0;
    std::int64_t correlation = kNone, external_id = kNone;
    std::uint32_t kernel = 0, shape = 0; // numbers in tables

    std::int64_t start_ns() const { return std::llround(start_us * 1e3); }
};
// Where kernels ran and how they were launched: few of these in a trace.
struct LaunchShape {
    Dim3 grid, block;
    std::int64_t stream = kNone, device = kNone;

    bool operator==(const LaunchShape&) const = default;
};
struct LaunchShapeHash {
    std::size_t operator()(const LaunchShape& shape) const {
        std::uint64_t hash = 0;
        for (const std::int64_t part : {shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x,
                                        shape.block.y, shape.block.z, shape.stream, shape.device}) {
            hash = (hash ^ static_cast<std::uint64_t>(part)) * 1099511628211ULL;
            hash ^= hash >> 29U;
        }
        return static_cast<std::size_t>(hash);
    }
};
struct Origin {
    std::int32_t op = kNone, range = kNone, leaf = kNone;
    std::int32_t module = kNone; // path of modules, among the ranges
    std::int64_t op_call = kNone, range_call = kNone, leaf_call = kNone;
    std::int64_t called_ns = kNone;
    std::int64_t sequence = kNone; // of the outermost operator of the backward pass
    bool backward : 1 = false;
};
// A step of the program, as "ProfilerStep#7" or an inference engine marks it on the host.
struct StepWindow {
    double start_us = 0.0, end_us = 0.0;
    std::int32_t number = 0;
};
class StepWindows {
  public:
    void take(std::string_view annotation, double start_us, double dur_us);
    void sort();                      // before at()
    std::int32_t at(double us) const; // number of the step that holds this moment, else kNone

  private:
    std::vector<StepWindow> steps_;
    std::vector<StepWindow> engine_; // marked by an inference engine, numbered as they start
};
// A copy whose launch is to be looked up.
struct TracedCopy {
    DeviceCopy copy;
    std::int64_t correlation = kNone;
};
// A kernel whose origin is to be looked up on one thread.
struct Question {
    double at_us = 0.0;
    std::uint32_t kernel = 0;
};

// Of "Memcpy HtoD (Pageable -> Device)", "Memset (Device)", and HIP's names.
CopyKind copy_kind(std::string_view name);

// Finds the innermost operator that says a kernel's work, else the innermost with tensors; an
// operator without any takes the dimensions of the one beside it.
class LeafFinder {
  public:
    // `names` holds the operators that the spans number; those with borrowed dimensions are added.
    explicit LeafFinder(ProfileBuilder& names) : names_(names) {}

    // `open` are the spans that enclose the kernel's launch, the outermost first; executions are
    // numbered from `first_call` on.
    void add_to(Origin& origin, const std::deque<Span>& spans, const std::vector<std::size_t>& open,
                std::int64_t first_call);

  private:
    std::size_t beside(const std::deque<Span>& spans, std::size_t at) const;
    bool communicates(const Span& span) const;
    bool is_source(const Span& span) const;
    std::int32_t borrowed(std::int32_t to, std::int32_t from);

    ProfileBuilder& names_;
};

// Which modules launched a kernel, and whose gradient a kernel of the backward pass computes.
class ModuleFinder {
  public:
    // Paths become ranges of `names`.
    explicit ModuleFinder(ProfileBuilder& names) : names_(names) {}

    std::int32_t module(std::string_view name);    // of a call, "Linear_0"
    std::int32_t hierarchy(std::string_view text); // "TOP(Net).fc(Linear)", of an operator
    // The last of `open` has just begun: an operator of the forward pass keeps its modules.
    void opened(const std::deque<Span>& spans, const std::vector<std::size_t>& open);
    // "Model/Block/Linear" of those that are open; an operator that names its modules says all of
    // them. kNone where the trace has none.
    std::int32_t of(const std::deque<Span>& spans, const std::vector<std::size_t>& open);
    // Kernels of the backward pass belong to the module of the same sequence number.
    void give_gradients(std::vector<Origin>& origins) const;

  private:
    static constexpr std::size_t kLongestPath = 400;

    ProfileBuilder& names_;
    std::unordered_map<std::int64_t, std::int32_t> of_sequence_; // of the forward pass
    bool any_ = false;
};

} // namespace eyeroof::profiles
