// A whole network with tuned kernels beside a library, in one process on this processor.
#pragma once

#include "analysis/program/graph.hpp"
#include "analysis/tune/cpu_target.hpp"

#include <map>

namespace eyeroof::analysis::tune {

// One step of a network as the program runs it. A product is followed by its bias, what is added,
// and a ReLU.
struct NetStep {
    NetKind kind = NetKind::point;
    std::string name = {};
    std::size_t work = 0; // of a product: NetPlan::works
    step::TensorId in = step::kNone, added = step::kNone, out = step::kNone;
    bool relu = false;
    model::PoolShape pool = {};
    Count rows = 0, cols = 0; // of softmax; of point: rows elements

    bool operator==(const NetStep&) const = default;
};

struct NetPlan {
    std::vector<NetStep> steps;
    std::vector<Workload> works;              // each shape once
    std::map<step::TensorId, Count> elements; // of each tensor that steps read or write
    step::TensorId input = step::kNone, output = step::kNone;
};

// Batch norms are folded into the product before them, and ReLUs and additions follow the product
// that makes their operand last. Errors: "unsupported" with every operator that the program does
// not run: convolutions in groups, functions other than relu and add, normalizations that follow no
// product; networks with more than one input, or additions without a graph.
Result<NetPlan> net_plan(const step::Graph& graph);

// The program's input, with the kernel's file for each of NetPlan::works.
std::string net_text(const NetPlan& plan, const std::vector<std::string>& kernels);

// Builds the program. Errors: "unavailable" where the session's compiler finds no oneDNN.
Result<Done> build_network(CpuSession& session);

// Runs it on the session's processor, with a kernel for each of NetPlan::works; with more than one
// thread on all of them. Errors: "wrong" where the results differ, "failed", "time-limit",
// "cancelled".
Result<EndToEnd> run_network(CpuSession& session, const NetPlan& plan,
                             const std::vector<CpuPlan>& kernels, int threads, double time_s);

// The program's output, as run_network() returns it.
Result<EndToEnd> parse_end_to_end(const NetPlan& plan, const ProcessEnd& end);

} // namespace eyeroof::analysis::tune
