// Maps a network on an accelerator: searches every distinct layer once, several in parallel.
#pragma once

#include "analysis/exam/conflicts.hpp"
#include "mapper/search.hpp"
#include "model/machine/machine.hpp"
#include "model/workload/network.hpp"

#include <optional>
#include <string>
#include <vector>

namespace eyeroof::analysis {

struct MapOptions {
    mapper::Objective objective = mapper::Objective::edp();
    mapper::Factors factors = mapper::Factors::perfect;
    mapper::SearchOptions search; // its threads are shared by layers first, then inside a layer
    mapper::Constraints constraints;
    ConstraintPlaces places; // places of the constraints in their files, for diagnostics
    model::Counting counting = model::Counting::eyeroof;
    std::optional<model::DataflowKind> dataflow; // nullopt: the machine's first
    bool free_dataflow = false;                  // no spatial rules at all
    std::optional<std::string> layers;           // regular expression over layer names
};

struct MappedLayer {
    std::string name;
    model::Problem problem;
    Count count = 1;                    // executions in the network
    std::optional<std::size_t> same_as; // index of the layer that was searched for it
    std::optional<mapper::SearchResult> found;
    // Of the dataflow's own mapping; 0: it has none, or none that keeps the constraints.
    double preset_value = 0.0;
    Diagnostics why; // there is no mapping
};

struct MapReport {
    std::string network;
    std::string machine;
    std::string objective;
    std::string strategy;
    double units = 0.0;
    std::vector<MappedLayer> layers;
    double energy_pj = 0.0; // of the network, counts included
    double cycles = 0.0;
    bool cancelled = false; // layers hold the best so far, or `why` they hold none
};

// Errors: those of the layers; "unsupported" for a machine that is no accelerator or a dataflow
// that it does not have; "no-layers"; "bad-regex"; "cancelled" when it was before any mapping was
// found. A layer without a mapping is no error.
Result<MapReport> map_network(const model::Network& network, const model::Machine& machine,
                              const MapOptions& options, std::stop_token stop = {},
                              const ProgressCallback& progress = {});

// The searches of the different layers that match. Errors: as above.
struct LayerTask {
    std::string layer;
    std::vector<std::string> equals; // other layers of the same shape
    mapper::Task task;
    model::Dataflow dataflow; // whose rules the task keeps in space; all allowed where it is free
};
Result<std::vector<LayerTask>> layer_tasks(const model::Network& network,
                                           const model::Machine& machine,
                                           const MapOptions& options);

} // namespace eyeroof::analysis
