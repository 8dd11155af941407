#include "study/best_mappings.hpp"

#include "mapper/preset/preset.hpp"
#include "mapper/preset/stationary.hpp"

#include <algorithm>

namespace eyeroof::study {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

namespace {

bool names_energies(const Accelerator& accelerator) {
    const auto costs = [](const Store& s) { return s.read_pj > 0.0 || s.write_pj > 0.0; };
    return std::any_of(accelerator.levels.begin(), accelerator.levels.end(), [&](const Level& l) {
        return std::any_of(l.stores.begin(), l.stores.end(), costs);
    });
}

// The dataflow's own mapping: a first guess, and possibly better than all with loops that divide.
std::vector<Mapping> known_mappings(const Problem& problem, const Accelerator& accelerator,
                                    const Dataflow& rules) {
    auto known = mapper::preset_mapping(problem, accelerator, rules);
    if (!known) {
        known = mapper::stationary_mapping(problem, accelerator, rules);
    }
    return known ? std::vector<Mapping>{known->mapping} : std::vector<Mapping>{};
}

} // namespace

const SearchOutcome* BestMappings::of(const Problem& problem) const {
    for (std::size_t i = 0; i < problems.size(); ++i) {
        if (same_nest(problem, problems[i])) {
            return &found[i];
        }
    }
    return nullptr;
}

Result<std::vector<Problem>> nests_of(const Layer& layer) {
    auto problems = problems_of(layer);
    if (problems) {
        for (Problem& problem : *problems) {
            problem.zeros[index(Operand::input)] = layer.input_zeros;
            problem.zeros[index(Operand::output)] = layer.output_zeros;
        }
    }
    return problems;
}

mapper::Objective natural_objective(const Accelerator& accelerator) {
    return names_energies(accelerator) ? mapper::Objective::edp() : mapper::Objective::latency();
}

BestMappings search_best(const Network& network, const Accelerator& accelerator,
                         const Dataflow& rules, const StudyOptions& options,
                         const std::stop_token& stop, const ProgressCallback& progress) {
    BestMappings best;
    std::vector<mapper::Task> tasks;
    for (const Layer& layer : network.layers) {
        const auto problems = nests_of(layer);
        if (!problems) {
            continue;
        }
        for (const Problem& problem : *problems) {
            const auto same = [&](const Problem& known) { return same_nest(problem, known); };
            if (std::none_of(best.problems.begin(), best.problems.end(), same)) {
                best.problems.push_back(problem);
                tasks.push_back({problem, accelerator, mapper::constraints_of(accelerator, &rules),
                                 options.objective.value_or(natural_objective(accelerator)),
                                 options.factors, options.counting,
                                 known_mappings(problem, accelerator, rules)});
            }
        }
    }
    mapper::SearchOptions search;
    search.threads = options.threads;
    best.found = search_nests(tasks, search, options.search_limit_s, stop, progress);
    return best;
}

} // namespace eyeroof::study
