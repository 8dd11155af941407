// The mapper's best mapping of every loop nest of a network, for an exam.
// Made by run() before the layers are examined; read by examine().
#pragma once

#include "analysis/exam/search_nests.hpp"
#include "analysis/scenario/question.hpp"
#include "model/workload/network.hpp"

namespace eyeroof::analysis {

struct BestMappings {
    std::vector<model::Problem> problems; // all different
    std::vector<SearchOutcome> found;     // of each

    // nullptr when the nest was not searched.
    const SearchOutcome* of(const model::Problem& problem) const;
};

// The nests of a layer with what is known of its values; errors: those of problems_of().
Result<std::vector<model::Problem>> nests_of(const model::Layer& layer);

// The mapping that a dataflow's own rules make, a search apart; by its published rules where they
// place the nest, else tiled in general. Nothing where neither is possible.
std::optional<model::Mapping> own_mapping(const model::Problem& problem,
                                          const model::Accelerator& accelerator,
                                          const model::Dataflow& dataflow);

// What is searched for a nest under a dataflow's rules (nullptr: none) and the user's. The search
// knows from the start what the dataflow's own rules make; without rules, what each of the
// machine's dataflows does. Constraints may fix a dimension to 0 trips: to all of it. Objective,
// factors and counting are left to the caller.
mapper::Task task_of(const model::Problem& problem, const model::Accelerator& accelerator,
                     const model::Dataflow* dataflow, const mapper::Constraints& constraints = {});

// Does some access cost energy?
bool names_energies(const model::Accelerator& accelerator);

// Energy times delay; time alone on machines whose description names no energies.
mapper::Objective natural_objective(const model::Accelerator& accelerator);

// Layers with errors of their own are left out: examine() reports them.
BestMappings search_best(const model::Network& network, const model::Accelerator& accelerator,
                         const model::Dataflow& rules, const Question& question,
                         const std::stop_token& stop, const ProgressCallback& progress);

} // namespace eyeroof::analysis
