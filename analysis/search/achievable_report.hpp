// The machine's chain reached by search, beside the bounds of the equations: the remaining gap of
// each step.
#pragma once

#include "analysis/search/map_network.hpp"
#include "mapper/achievable_bounds.hpp"
#include "model/eyexam/chain.hpp"

#include <string>
#include <vector>

namespace eyeroof::analysis {

struct LayerAchievable {
    std::string layer;
    std::vector<std::string> equals;     // other layers of the same shape
    model::Chain bounds;                 // model/eyexam's, for the same dataflow
    mapper::AchievableBounds achievable; // steps 1 to 6
};

struct AchievableReport {
    std::string network;
    std::string machine;
    std::string space; // "perfect factors": what was searched
    double units = 0.0;
    std::vector<LayerAchievable> layers;
    bool cancelled = false; // some layers are missing
};

// Of every different layer that matches; `options.objective` is not used, and its time limit holds
// for all layers together. Errors: those of map_network(); "cancelled" when that was before the
// first layer was done.
Result<AchievableReport> achievable_of(const model::Network& network, const model::Machine& machine,
                                       const MapOptions& options, std::stop_token stop = {},
                                       const ProgressCallback& progress = {});

} // namespace eyeroof::analysis
