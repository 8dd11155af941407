#include "cli/map_options.hpp"

#include "cli/exam_options.hpp"
#include "cli/search_options.hpp"
#include "study/exam/best_mappings.hpp"

#include <utility>

namespace eyeroof::cli {

namespace {

constexpr double kCurveLimitS = 60.0; // of --capacity-curve, in all

} // namespace

model::Result<study::MapOptions> map_options(const MapOptions& options) {
    study::MapOptions wanted;
    if (options.objective) {
        const auto objective = parse_objective(*options.objective);
        if (!objective) {
            return model::Result<study::MapOptions>(objective.diagnostics());
        }
        wanted.objective = *objective;
    }
    wanted.factors = options.factors == "any" ? mapper::Factors::any : mapper::Factors::perfect;
    wanted.counting =
        options.counting == "timeloop" ? model::Counting::timeloop : model::Counting::eyeroof;
    wanted.search.strategy = *mapper::strategy_from_name(options.strategy);
    wanted.search.time_limit_s = options.time_limit_s;
    if (!options.curve_level.empty() && options.time_limit_s == 0.0) {
        wanted.search.time_limit_s = kCurveLimitS; // a proof of every point may take hours
    }
    wanted.search.seed = options.seed;
    wanted.search.threads = options.threads;
    wanted.free_dataflow = frees_dataflow(options.dataflow);
    wanted.dataflow = dataflow_named(options.dataflow);
    if (!options.layers.empty()) {
        wanted.layers = options.layers;
    }
    return model::Result<study::MapOptions>(std::move(wanted));
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
    if (options.chain && !options.plot.empty()) {
        return "--chain has no plot: ask --format csv for the figures of one";
    }
    return std::nullopt;
}

void add_map_search(CLI::App& app, MapOptions& options) {
    app.add_option("--objective", options.objective,
                   std::string(kObjectiveHelp) + " [edp; latency where no energies are known]")
        ->type_name("OBJECTIVE");
    add_choice(app, "--strategy", options.strategy,
               {"exact", "random", "random-pruned", "exhaustive", "annealing", "genetic"},
               "How to search; only exact and exhaustive prove their answer [exact]");
    add_choice(app, "--factors", options.factors, {"perfect", "any"},
               "Loops that divide evenly, or any with a partial last trip [perfect]");
    add_choice(app, "--counting", options.counting, {"eyeroof", "timeloop"},
               "Rules for counting accesses [eyeroof]");
    add_choice(app, "--dataflow", options.dataflow,
               {"ws", "os", "is", "nlr", "rs", "rs-plus", "rs+", "free"},
               "Whose rules the mapping keeps in space, or none [the machine's first]");
    app.add_option("--min-utilization", options.min_utilization,
                   "Only mappings that use at least this share of the units")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    app.add_option("--time-limit", options.time_limit_s,
                   "Seconds a layer may take (--pareto, --capacity-curve, --chain: in all); the "
                   "best so far is shown with its gap [none; --capacity-curve: 60]")
        ->check(CLI::Range(0.001, 1e6))
        ->type_name("S");
    app.add_option("--seed", options.seed, "Seed of the random strategies [1]")->type_name("N");
    app.add_option("--threads", options.threads,
                   "Threads to use; the mapping does not depend on it [all]")
        ->check(CLI::Range(0, 4096))
        ->type_name("N");
}

} // namespace eyeroof::cli
