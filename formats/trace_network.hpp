// A trace as a network: operators that launched kernels become layers, with the launches that they
// stand for.
//
// One step is taken: the one of median kernel time among those that "ProfilerStep#N" marks, else
// one period of a sequence of kernels that repeats, else all of the trace. Equal operators of equal
// dimensions are one layer; `count` says how often the step runs it. Transfers are layers too. A
// kernel whose operator is not known stands in `uncosted` with its measured time.
#pragma once

#include "model/workload/graph_edges.hpp"
#include "model/workload/network.hpp"
#include "profiles/measurement.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::formats {

// How the work of a layer was found. exact: by the operator's own dimensions. assumed: something is
// taken from the operator beside it, from a kernel's name and grid, or from a usual value. traffic:
// only the tensors that it was called with are known, so its bound is that of their bytes.
enum class Found { exact, assumed, traffic };
std::string_view found_name(Found found);

struct TracedLayer {
    std::string op;   // "aten::addmm"
    std::string dims; // "[[2304],[25088,768],[768,2304]]"
    Found found = Found::exact;
    std::string why;         // what was assumed; empty for exact
    double measured_s = 0.0; // of all its runs in the step
    double host_s = 0.0;     // of these, on copy engines

    bool operator==(const TracedLayer&) const = default;
};

struct TraceNetwork {
    model::Network network;
    std::vector<TracedLayer> layers; // beside network.layers
    // The step's launches alone; `range` names the layer that each belongs to, and `range_call` its
    // execution. Transfers that are layers stand among them, under the names of their kinds.
    profiles::Profile profile;
    // The step's kernels and copies as they were traced.
    profiles::Profile step;
    std::string step_name; // "ProfilerStep#6, 1 of 3", "1 of 4 repetitions", "the whole trace"
    std::vector<std::string> notes; // of what the step leaves out, and why operators are missing
    double kernel_s = 0.0;          // of all kernels of the step, transfers not counted
    double layered_s = 0.0;         // of those, what belongs to layers
};

// Is this the beginning of a file that network_of_trace() takes? By content, unpacked.
bool is_trace_file(const std::filesystem::path& path);

// Is it one of PyTorch's profiler, whose operators say their shapes?
bool is_network_trace(const std::filesystem::path& path);

// Different operators of a step: some 10 kB of memory each in the largest answers, which are to
// stay below 512 MB. Steps of training and decoding have a few hundred.
inline constexpr std::size_t kMostTracedLayers = 25'000;

// Errors: the importer's; "no-layers" where no operator is known; "too-many-layers".
Result<TraceNetwork> load_trace_network(const std::filesystem::path& path);
Result<TraceNetwork> network_of_trace(const profiles::Profile& profile, const std::string& name);
// The same without a layer too: the timeline of a step, whose kernels' names are all that is known.
TraceNetwork timeline_of_trace(const profiles::Profile& profile, const std::string& name);

// Why operators of a step are not known, with what to do about it; nullopt where most are.
struct MissingOperators {
    std::string why, fix;
};
std::optional<MissingOperators> missing_operators(const TraceNetwork& trace);

} // namespace eyeroof::formats
