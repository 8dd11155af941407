// In which order a network's layers run, and who reads whose output. Made by readers of networks,
// read by those who build the step.
#pragma once

#include "base/result.hpp"
#include "model/workload/network.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::model {

// A file of a few lines can ask for no more steps than this.
inline constexpr std::size_t kMostGraphSteps = 1'000'000;

// run: one execution of a layer. view: a part of what it reads, or several tensors taken as one,
// at no cost. state: a tensor that is there before the run and after it (a cache).
enum class GraphStepKind { run, view, state };

// What a step may read beside earlier steps: what the network is given ("input"), and what is there
// anyway and takes no memory of its own ("constant": masks, positions).
inline constexpr std::size_t kNetworkInput = static_cast<std::size_t>(-1);
inline constexpr std::size_t kConstant = static_cast<std::size_t>(-2);

struct GraphStep {
    GraphStepKind kind = GraphStepKind::run;
    std::size_t layer = 0;                 // of a run: index into the network's layers
    std::vector<std::size_t> reads;        // earlier steps, kNetworkInput or kConstant
    std::optional<Count> elements;         // of a view or a state
    std::optional<std::size_t> weights_of; // index of the layer whose weights it shares
    bool expands = false;                  // a view with more elements: repeated, or padded
    bool output = false;                   // of the network: no one need read it
    bool in_call = false;                  // launched by a library within the call before
    std::uint32_t place = 0;               // index into GraphEdges::places
    Count in_training = 1;                 // so many times as many elements of a view there

    bool operator==(const GraphStep&) const = default;
};

struct GraphEdges {
    std::vector<GraphStep> steps;
    std::vector<SourceLocation> places; // of the steps as they were written
    std::vector<std::string> names;     // beside places: of views and states

    bool operator==(const GraphEdges&) const = default;
};

// A network with its edges, where it has them: without, its layers run as a chain.
struct NetworkGraph {
    Network network;
    std::optional<GraphEdges> edges = {};

    bool operator==(const NetworkGraph&) const = default;
};

// As it runs in a training step: every layer and view with the rows that it has there. Errors:
// "overflow".
Result<NetworkGraph> in_training(NetworkGraph network);

} // namespace eyeroof::model
