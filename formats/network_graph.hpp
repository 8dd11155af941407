// The `graph` of a network YAML: in which order its layers run, and who reads whose output; blocks
// that repeat are written once and unrolled here.
#pragma once

#include "formats/expression.hpp"
#include "hwdb/yaml.hpp"
#include "model/workload/graph_edges.hpp"
#include "model/workload/layer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::formats {

using model::GraphEdges;
using model::GraphStep;
using model::GraphStepKind;
using model::kConstant;
using model::kMostGraphSteps;
using model::kNetworkInput;

// Nothing where the file has no `graph`. Findings are reported at the nodes of `root`:
// "unknown-layer", "unknown-tensor", "graph-cycle", "read-before-made", "run-count" where a layer
// runs more or less often than its count says, "too-many-steps", "expression". `values`: those of
// the layers' expressions. Layers that `when` leaves out are left out here too: what they would
// have read takes the place of what they would have made.
std::optional<GraphEdges> read_edges(const hwdb::Node& root,
                                     const std::vector<model::Layer>& layers,
                                     const Variables& values);

// The `graph` of a network YAML, unrolled: every step by a name of its own. Reads back as the same
// edges, with other places. To stand behind write_network_yaml().
std::string write_edges(const GraphEdges& edges, const std::vector<model::Layer>& layers);

} // namespace eyeroof::formats
