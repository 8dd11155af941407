// A scenario with its references resolved: the network, the machine, the host, and the contents of
// its files. Made by resolve() or by callers that have a network in memory.
#pragma once

#include "analysis/scenario/scenario.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/workload/graph_edges.hpp"
#include "model/workload/network.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

// "levels[1].temporal.K", "levels[1].spatial.K", "levels[1].axes", "levels[1].order",
// "levels[1].keep.input", "levels[1].bypass.input", "min_utilization".
using ConstraintPlaces = std::map<std::string, SourceLocation>;

struct Question {
    Scenario scenario;
    model::Network network;                 // at its own batch and types
    std::optional<model::GraphEdges> edges; // which layer reads which; nullopt: a chain
    model::Machine machine;                 // with the scenario's changes
    std::optional<model::Machine> uncapped; // the same without the power cap, where one lowers it
    model::HostIssue host;                  // unknown: textbook_host()
    std::string host_id;                    // its name, where it has one
    std::optional<model::Mapping> mapping;  // of MappingPolicy::given
    std::vector<model::Mapping> nests; // the same, one for each nest of a layer that has several
    mapper::Constraints constraints;   // of searches, on top of the dataflow's
    ConstraintPlaces places;           // where those stand, for messages

    bool constrained() const { return constraints != mapper::Constraints{}; }
    bool operator==(const Question&) const = default;
};

} // namespace eyeroof::analysis
