// A program: the operators of a step in the order in which they are launched, and the tensors
// between them. Made by lower() from a network and its edges; read by the timeline, the memory
// curve, and every analysis of a step.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "base/result.hpp"
#include "model/gpu/step.hpp"
#include "model/workload/graph_edges.hpp"
#include "model/workload/network.hpp"
#include "model/workload/operands.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis::step {

using TensorId = std::uint32_t;
using OperatorId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

enum class Role { input, state, weight, optimizer, activation, gradient, weight_gradient };
inline constexpr std::size_t kRoles = 7;
std::string_view role_text(Role role); // "weights", "activations" …

struct Tensor {
    Role role = Role::activation;
    Count bytes = 0;
    OperatorId producer = kNone; // none: there before the step
    std::uint32_t layer = kNone; // what it is the output, weight or gradient of: Graph::layers
    std::uint32_t number = 0;    // which run of that layer
    bool output = false;         // of the network: it outlives the step

    bool operator==(const Tensor&) const = default;
};

struct Operator {
    std::uint32_t layer = 0;  // index into Graph::layers: operators that are alike share one
    std::uint32_t number = 0; // which run of it, from 0
    model::Issued kind = model::Issued::forward;
    OperatorId forward = kNone;                // of a gradient: the operator that it differentiates
    std::uint32_t first_read = 0, reads = 0;   // in Graph::operands
    std::uint32_t first_write = 0, writes = 0; // in Graph::operands
    bool within_call = false;                  // launched by a library in its neighbor's call

    bool operator==(const Operator&) const = default;
};

// One operator that was fused into a kernel, and what of its bytes the kernel still moves.
struct FusedMember {
    model::Layer layer;
    double outside = 1.0;

    bool operator==(const FusedMember&) const = default;
};

// Operators that a compiler made one kernel of.
struct FusedLayer {
    std::vector<FusedMember> members;
    Count read_bytes = 0, written_bytes = 0; // that cross the kernel's border
    Count kernels = 1;                       // that it is launched as; see kernels_of

    bool operator==(const FusedLayer&) const = default;
};

struct Graph {
    std::string id, name;
    std::vector<model::Layer> layers;          // each once
    std::map<std::uint32_t, FusedLayer> fused; // of the layers that stand for several operators
    std::vector<Operator> operators;
    std::vector<Tensor> tensors;
    std::vector<TensorId> operands;
    std::string optimizer; // of a training step; empty: inference
    bool chain = false;    // no edges were given: every operator reads the one before it

    // They view `operands`: valid until an operand is added.
    std::span<const TensorId> reads_of(const Operator& op) const {
        return {operands.data() + op.first_read, op.reads};
    }
    std::span<const TensorId> writes_of(const Operator& op) const {
        return {operands.data() + op.first_write, op.writes};
    }
    // Behind the others: `op` as it is, but for its operands. They must not view this graph's.
    OperatorId append(Operator op, std::span<const TensorId> reads,
                      std::span<const TensorId> writes);
    std::string name_of(const Operator& op) const; // "scores#3" where a layer runs more than once
    std::string name_of(const Tensor& tensor) const;
    bool operator==(const Graph&) const = default;
};

struct GraphOptions {
    std::optional<TrainingOptions> training; // nothing: inference
    Regime states = Regime::usual;
    Count batch = 1;       // what the network was multiplied by; scales views
    bool in_place = false; // activations write over what they read where nothing else needs it
};

using model::GraphEdges;
using model::Operands;
using model::operands_of;

// What runs, in words: "a training step with adam, fp16", "inference, fp32 and int8"; the types are
// those of the layers' outputs.
std::string run_words(const std::vector<model::Layer>& layers, const std::string& optimizer);

// Without edges the layers run as a chain, each reading the one before it; neighbors with counts
// are mixed evenly, as the blocks of a network are. With training: gradients in reverse order for
// what learns or lies above what learns; gradients of a tensor that several read are summed (an
// "add" each); additions pass their gradient on without work; then the updates. A weight that
// several layers share has one gradient, one state and one update.
// Errors: "shape-mismatch" and "dangling-tensor" with the step's place; "wrong-edges" where it
// names layers that the network does not have; "too-many-operators"; "not-forward" for training of
// a network that holds gradients itself; those of the layers.
Result<Graph> make_graph(const model::Network& network, const std::optional<GraphEdges>& edges,
                         const GraphOptions& options = {});

} // namespace eyeroof::analysis::step
