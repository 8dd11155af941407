// The mapper's best mapping of every loop nest of a network, for an exam.
// Made by run() before the layers are examined; read by examine().
#pragma once

#include "analysis/exam/search_nests.hpp"
#include "analysis/scenario/question.hpp"
#include "model/workload/network.hpp"

#include <utility>
#include <vector>

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

// The search task of a nest under a dataflow's rules (nullptr: none) and the user's constraints. It
// is seeded with the mapping of the dataflow's own rules; without rules, with that of each of the
// machine's dataflows. A constraint of 0 trips fixes a dimension to its full size. Objective,
// factors, and counting are set by the caller.
mapper::Task task_of(const model::Problem& problem, const model::Accelerator& accelerator,
                     const model::Dataflow* dataflow, const mapper::Constraints& constraints = {});

// Does some access cost energy?
bool names_energies(const model::Accelerator& accelerator);

// Energy times delay; time alone on machines whose description names no energies.
mapper::Objective natural_objective(const model::Accelerator& accelerator);

// Mappings of nests to start searches from.
using KnownMappings = std::vector<std::pair<model::Problem, model::Mapping>>;

// `limit_s`: of all searches together, 0: none. Layers with errors of their own are left out:
// examine() reports them.
BestMappings search_best(const model::Network& network, const model::Accelerator& accelerator,
                         const model::Dataflow& rules, const Question& question, double limit_s,
                         const KnownMappings& known, const std::stop_token& stop,
                         const ProgressCallback& progress);

} // namespace eyeroof::analysis
