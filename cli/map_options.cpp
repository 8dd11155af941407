#include "cli/map_options.hpp"

#include "analysis/exam/best_mappings.hpp"

#include <algorithm>
#include <utility>

namespace eyeroof::cli {

namespace {

constexpr double kCurveLimitS = 60.0; // of --capacity-curve, in all

} // namespace

Result<analysis::MapOptions> map_options(const MapOptions& options,
                                         const analysis::Question& question) {
    const analysis::Scenario& scenario = question.scenario;
    analysis::MapOptions wanted;
    if (const auto* accelerator = std::get_if<model::Accelerator>(&question.machine.kind)) {
        wanted.objective = scenario.objective.value_or(
            options.pareto ? mapper::Objective::edp() : analysis::natural_objective(*accelerator));
        const bool energies = analysis::names_energies(*accelerator) || accelerator->mac_pj > 0.0;
        const bool asked =
            options.pareto || (scenario.objective && scenario.objective->energy_power > 0.0);
        if (!energies && asked) {
            return Result<analysis::MapOptions>::failure(
                "no-energy", "the machine names no energies: all mappings take 0 pJ",
                "ask for --objective latency, or give the accesses energies");
        }
    }
    wanted.factors = scenario.factors;
    wanted.counting = scenario.counting;
    wanted.search.strategy = *mapper::strategy_from_name(options.strategy);
    wanted.search.time_limit_s = scenario.search_limit_s;
    if (!options.curve_level.empty() && scenario.search_limit_s == 0.0) {
        wanted.search.time_limit_s = kCurveLimitS; // a proof of every point may take hours
    }
    wanted.search.max_nodes = scenario.search_nodes.value_or(0);
    wanted.search.seed = options.seed;
    wanted.search.threads = scenario.threads;
    wanted.search.uneven = options.uneven;
    wanted.free_dataflow = scenario.free_dataflow;
    wanted.dataflow = scenario.dataflow;
    wanted.constraints = question.constraints;
    wanted.places = question.places;
    double& least = wanted.constraints.min_utilization;
    least = std::max(least, options.min_utilization);
    return wanted;
}

std::optional<std::string> contradiction(const MapOptions& options) {
    const int questions =
        (options.pareto ? 1 : 0) + (options.curve_level.empty() ? 0 : 1) + (options.chain ? 1 : 0);
    if (questions > 1) {
        return "--pareto, --capacity-curve and --chain are questions of their own: ask one";
    }
    if (questions == 1 && (!options.save_mapping.empty() || !options.save_timeloop.empty())) {
        return "--save-mapping and --save-timeloop write the one best mapping: leave out --pareto, "
               "--capacity-curve and --chain";
    }
    if (questions == 1 && !options.fail_if.empty()) {
        return "--fail-if judges the one best mapping: leave out --pareto, --capacity-curve and "
               "--chain";
    }
    if (options.uneven && options.strategy != "exact") {
        return "only the exact strategy searches uneven mappings: leave out --strategy or --uneven";
    }
    if (options.uneven && (questions == 1 || !options.plot.empty())) {
        return "--pareto, --capacity-curve, --chain and --plot are of even mappings: leave out "
               "--uneven";
    }
    if (options.uneven && (!options.save_mapping.empty() || !options.save_timeloop.empty())) {
        return "a mapping file has one tile for each level, an uneven mapping has one for each "
               "operand: leave out --uneven, --save-mapping and --save-timeloop";
    }
    if (options.chain && !options.plot.empty()) {
        return "--chain has no plot: ask --format csv for the figures of one";
    }
    return std::nullopt;
}

void add_map_search(CLI::App& app, MapOptions& options) {
    add_choice(app, "--strategy", options.strategy,
               {"exact", "random", "random-pruned", "exhaustive", "annealing", "genetic"},
               "Search strategy; only exact and exhaustive prove their result [exact]");
    app.add_flag("--uneven", options.uneven,
                 "Search uneven mappings, too: each operand that a store keeps has loops of its "
                 "own around its tile [even mappings alone]");
    app.add_option("--min-utilization", options.min_utilization,
                   "Least share of the PEs that a mapping may use")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    app.add_option("--seed", options.seed, "Seed of the random strategies [1]")->type_name("N");
}

} // namespace eyeroof::cli
