// The time of a whole step: kernels that a host launches one after another and a GPU works off.
#pragma once

#include "model/workload/layer.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace eyeroof::model {

// What an eager call of an operator costs, in calls of a pointwise one: frameworks look up
// algorithms of convolutions and products, allocate more results, call more of their own functions.
struct CallWeights {
    double conv = 1.0, gemm = 1.0, norm = 1.0, reduction = 1.0, pool = 1.0;

    bool operator==(const CallWeights&) const = default;
};

// What a host takes to issue work, seconds; measured, and kept in the host's file. Zeros: not
// known.
struct HostIssue {
    double call_s = 0.0;      // eager: a framework's operator, forward
    double gradient_s = 0.0;  // eager: an operator that the framework's engine differentiates
    double launch_s = 0.0;    // the driver's launch of a kernel: stream, and multi-tensor updates
    double node_s = 0.0;      // a kernel of a graph that is replayed
    double latency_s = 0.0;   // from a launch to its kernel's start on an idle GPU
    double compiled_s = 0.0;  // entering generated code: guards, arguments
    double replay_s = 0.0;    // a framework's replay of a graph whose inputs it stages
    CallWeights weights = {}; // of eager calls; call_s is that of a pointwise operator

    bool known() const { return call_s > 0.0; }
    bool operator==(const HostIssue&) const = default;
};

enum class Issued { forward, gradient, update };

// How a host launches the kernels of a step. eager: a framework calls each operator. stream: a
// program launches kernels back to back. graph: a captured graph is replayed. none: kernels alone,
// no host. A kernel's own time is the same in all of them.
enum class Launch { eager, stream, graph, none };
std::string_view launch_name(Launch launch);
std::optional<Launch> launch_from_name(std::string_view name);

// CPU launch overhead of one operator.
double issue_seconds(const HostIssue& host, Launch launch, Issued kind);

// The weight of an eager call of the layer.
double call_weight(const CallWeights& weights, const Layer& layer);

} // namespace eyeroof::model
