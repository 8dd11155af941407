// Strings the seven steps into the two chains: the machine's and one mapping's.
#pragma once

#include "model/accelerator/accelerator.hpp"
#include "model/accelerator/mapping.hpp"
#include "model/cost/cost.hpp"
#include "model/cost/latency.hpp"
#include "model/eyexam/chain.hpp"
#include "model/workload/problem.hpp"

namespace eyeroof::model {

// Upper bounds that no mapping of the dataflow on this machine can exceed, as mappings are counted:
// Timeloop's counting has no networks with a bandwidth and no step 7.
Chain machine_chain(const Problem& problem, const Accelerator& accelerator,
                    const Dataflow& dataflow, Counting counting = Counting::eyeroof);

// The same chain for one mapping of the dataflow. What the layer, the dataflow and the number of
// units allow (steps 1 to 3) does not depend on it; from step 4 on it is this mapping's dimensions
// on its axes, then its tiles, its traffic, its waiting. Never above the machine's chain when the
// mapping keeps to the dataflow's rules.
Chain mapping_chain(const Problem& problem, const Accelerator& accelerator,
                    const Dataflow& dataflow, const Mapping& mapping, const MappingCost& cost,
                    const Latency& latency);

// Every dimension on every axis: the dataflow of a machine description that restricts nothing.
Dataflow unrestricted_dataflow(const Accelerator& accelerator);

} // namespace eyeroof::model
