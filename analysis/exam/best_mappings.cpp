#include "analysis/exam/best_mappings.hpp"

#include "analysis/exam/conflicts.hpp"
#include "analysis/exam/ruled_task.hpp"
#include "mapper/preset/preset.hpp"
#include "mapper/preset/stationary.hpp"
#include "model/eyexam/examine.hpp"

#include <algorithm>

namespace eyeroof::analysis {

using namespace model; // NOLINT(google-build-using-namespace): the vocabulary of the field

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

std::optional<Mapping> own_mapping(const Problem& problem, const Accelerator& accelerator,
                                   const Dataflow& dataflow) {
    auto own = mapper::preset_mapping(problem, accelerator, dataflow);
    if (!own) {
        own = mapper::stationary_mapping(problem, accelerator, dataflow);
    }
    return own ? std::optional(own->mapping) : std::nullopt;
}

mapper::Task ruled_task(const Problem& problem, const Accelerator& accelerator,
                        const Dataflow* dataflow, const mapper::Constraints& constraints) {
    mapper::Task task;
    task.problem = problem;
    task.machine = accelerator;
    const auto rules_here =
        dataflow == nullptr ? std::nullopt : std::optional(dataflow_for(problem, *dataflow));
    task.constraints =
        mapper::constraints_of(accelerator, rules_here ? &*rules_here : nullptr, constraints);
    for (mapper::LevelConstraint& level : task.constraints.levels) {
        for (std::size_t d = 0; d < kDims; ++d) { // 0 is all of the dimension
            level.temporal[d] = level.temporal[d] == 0 ? problem.bounds[d] : level.temporal[d];
            level.spatial[d] = level.spatial[d] == 0 ? problem.bounds[d] : level.spatial[d];
        }
    }
    return task;
}

mapper::Task task_of(const Problem& problem, const Accelerator& accelerator,
                     const Dataflow* dataflow, const mapper::Constraints& constraints) {
    mapper::Task task = ruled_task(problem, accelerator, dataflow, constraints);
    std::vector<Dataflow> rules;
    if (dataflow != nullptr) {
        rules = {*dataflow};
    } else {
        rules = accelerator.dataflows;
        rules.push_back(unrestricted_dataflow(accelerator));
    }
    for (const Dataflow& rule : rules) {
        if (auto own = own_mapping(problem, accelerator, rule)) {
            task.known.push_back(*std::move(own));
        }
    }
    return task;
}

bool names_energies(const Accelerator& accelerator) {
    const auto costs = [](const Store& s) {
        return std::any_of(kAllOperands.begin(), kAllOperands.end(), [&](Operand o) {
            return s.read_pj_of(o) > 0.0 || s.write_pj_of(o) > 0.0 || s.update_pj_of(o) > 0.0;
        });
    };
    return std::any_of(accelerator.levels.begin(), accelerator.levels.end(), [&](const Level& l) {
        return std::any_of(l.stores.begin(), l.stores.end(), costs);
    });
}

mapper::Objective natural_objective(const Accelerator& accelerator) {
    return names_energies(accelerator) ? mapper::Objective::edp() : mapper::Objective::latency();
}

BestMappings search_best(const Network& network, const Accelerator& accelerator,
                         const Dataflow& rules, const Question& question, double limit_s,
                         const KnownMappings& known, const std::stop_token& stop,
                         const ProgressCallback& progress) {
    const Scenario& s = question.scenario;
    BestMappings best;
    std::vector<mapper::Task> tasks;
    for (const Layer& layer : network.layers) {
        const auto problems = nests_of(layer);
        if (!problems) {
            continue;
        }
        for (const Problem& problem : *problems) {
            const auto same = [&](const Problem& other) { return same_nest(problem, other); };
            if (std::none_of(best.problems.begin(), best.problems.end(), same)) {
                best.problems.push_back(problem);
                mapper::Task task = task_of(
                    problem, accelerator, s.free_dataflow ? nullptr : &rules, question.constraints);
                task.objective = s.objective.value_or(natural_objective(accelerator));
                task.factors = s.factors;
                task.counting = s.counting;
                for (const auto& [nest, mapping] : known) {
                    if (same_nest(problem, nest)) {
                        task.known.push_back(mapping);
                    }
                }
                tasks.push_back(std::move(task));
            }
        }
    }
    mapper::SearchOptions search;
    search.threads = s.threads;
    search.max_nodes = search_nodes_of(s);
    best.found = search_nests(tasks, search, limit_s, stop, progress);
    for (std::size_t i = 0; i < tasks.size() && question.constrained(); ++i) {
        if (!best.found[i]) {
            best.found[i] = SearchOutcome(
                explain_conflicts(tasks[i], best.found[i].diagnostics(), question.places, stop));
        }
    }
    return best;
}

} // namespace eyeroof::analysis
