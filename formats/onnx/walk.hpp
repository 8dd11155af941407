// One pass over the nodes of a graph: each becomes layers, a view, a constant, or an operator that
// could not be costed. Bodies of Loop, Scan and If are walked with the graph that holds them.
#pragma once

#include "formats/onnx/attention_patterns.hpp"
#include "formats/onnx/graph.hpp"
#include "formats/onnx/step.hpp"
#include "model/workload/network.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::formats::onnx {

using Sizes = std::map<std::string, double, std::less<>>; // of named dimensions

// How many nodes of an operator there are, and what became of them.
struct OperatorCount {
    std::string op; // with its domain, where it is not ONNX's own
    std::size_t costed = 0, views = 0, folded = 0, unknown = 0;
    std::string why; // of the first that is not known
};

// Nodes walked in all, each iteration of a loop again: more is refused, not waited for.
inline constexpr std::size_t kMostWalked = 4'000'000;
// Values that are computed in all.
inline constexpr std::size_t kMostFolded = 64'000'000;
// Iterations of a loop whose sizes change from one to the next.
inline constexpr std::size_t kMostIterations = 4096;

// What became of the nodes.
struct Outcomes {
    std::map<std::string, OperatorCount> kinds;
    std::vector<model::Uncosted> uncosted;
    std::size_t operators = 0;  // that run: not those known before; of control flow, the body's
    std::size_t bounded = 0;    // costed at sizes that are upper bounds
    std::size_t attentions = 0; // patterns of two products and a softmax

    void add(const Outcomes& more);
};

// What all graphs of a model add to.
struct Tally {
    std::int64_t opset = 1;
    const Sizes* given = nullptr;
    bool fuse_attention = false;
    Counted counted;
    Outcomes nodes;
    std::size_t walked = 0, folded = 0;
};

// A number, a given name, or a sum of these; nothing for anything else.
std::optional<std::int64_t> size_named(const std::string& name, const Sizes& given);

// Walks the nodes in `order`. `costed.values` holds the inputs and what the graph captures; the
// graph's own constants are added. Then patterns of several nodes become one layer. `prefix` sets
// the constants of bodies apart.
void walk_graph(const OnnxGraph& graph, const std::vector<std::size_t>& order,
                const std::string& prefix, Costed& costed, Tally& tally);

// Loop, Scan and If. A loop counts its body as often as it runs; where that or a branch depends on
// the data, at the known upper bound, or at the costlier branch. `outer`: tensors around it.
bool is_control(const OnnxNode& node);
void run_control(Step& step, const std::map<std::string, Value>& outer, Tally& tally);

// The branches of top-level Ifs whose condition is known, in the place of the Ifs. Whether there
// were any.
bool inline_branches(OnnxGraph& graph, const std::map<std::string, Value>& values);

} // namespace eyeroof::formats::onnx
