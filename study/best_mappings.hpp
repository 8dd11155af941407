// The mapper's best mapping of every loop nest of a network, for an exam.
// Made by run() before the layers are examined; read by examine().
// Knows no file format and no display.
#pragma once

#include "model/network.hpp"
#include "study/run.hpp"
#include "study/search_nests.hpp"

namespace eyeroof::study {

struct BestMappings {
    std::vector<model::Problem> problems; // all different
    std::vector<SearchOutcome> found;     // of each

    // nullptr when the nest was not searched.
    const SearchOutcome* of(const model::Problem& problem) const;
};

// The nests of a layer with what is known of its values; errors: those of problems_of().
model::Result<std::vector<model::Problem>> nests_of(const model::Layer& layer);

// Energy times delay; time alone on machines whose description names no energies.
mapper::Objective natural_objective(const model::Accelerator& accelerator);

// Layers with errors of their own are left out: examine() reports them.
BestMappings search_best(const model::Network& network, const model::Accelerator& accelerator,
                         const model::Dataflow& rules, const StudyOptions& options,
                         const std::stop_token& stop, const model::ProgressCallback& progress);

} // namespace eyeroof::study
