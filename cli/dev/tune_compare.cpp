// eyeroof-dev tune-compare: strategies against each other, on synthetic targets, on logs, on
// mappings.
#include "analysis/tune_compare/compare.hpp"
#include "cli/command.hpp"
#include "cli/dev/dev_program.hpp"
#include "cli/own_library.hpp"
#include "cli/scenario_options.hpp"
#include "cli/tune/wanted.hpp"
#include "model/machine/machine.hpp"
#include "report/tune_compare/compare_write.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

struct TuneCompareCommand {
    TuneCommand tune; // its target is the model
    std::vector<std::string> from;
    int seeds = 5, jobs = 1;
    bool recorded = false, ablation = false;
};

Exit write_comparison(Context& context, const TuneCompareCommand& options,
                      const tuning::Comparison& made) {
    const std::string& format = options.tune.output.format;
    if (made.stopped) {
        Diagnostics found;
        found.error("cancelled", "stopped before all runs were there");
        return context.fail(found);
    }
    return context.write(format == "json"  ? report::comparison_json(made)
                         : format == "csv" ? report::comparison_csv(made)
                         : format == "svg" ? report::comparison_svg(made)
                                           : report::comparison_text(made),
                         options.tune.output.file);
}

Exit run_comparison(Context& context, const TuneCompareCommand& options,
                    std::vector<tuning::Arena> arenas) {
    if (arenas.empty()) {
        Diagnostics found;
        found.error("too-few", "no layer of the logs has 32 different measured points");
        return context.fail(found);
    }
    const bool pools = !options.from.empty();
    const auto contenders =
        options.ablation ? tuning::feature_contenders(pools) : tuning::usual_contenders(pools);
    auto made = tuning::compare(arenas, contenders, options.seeds, options.tune.trials,
                                options.jobs, context.stop(), context.progress());
    if (pools && options.ablation && !made.stopped) {
        tuning::TreeOptions trees = strategy_of(options.tune).trees;
        tuning::hold_out(arenas, trees, made, context.stop());
    }
    return write_comparison(context, options, made);
}

// Layers on a GPU that is computed.
Result<std::vector<tuning::Arena>> kernels(Context& context, const TuneCompareCommand& options,
                                           const model::Network& network, const model::Gpu& gpu,
                                           const std::string& name) {
    using Made = Result<std::vector<tuning::Arena>>;
    const auto layers = tuning::workloads_of(network);
    if (!layers) {
        return Made(layers.diagnostics());
    }
    context.report(layers.diagnostics());
    const auto machine = tuning::gpu_machine_of(gpu, name);
    return machine ? Made(tuning::synthetic_tasks_of(*layers, *machine, tune_options(options.tune)))
                   : Made::failure("unsupported",
                                   fmt::format("'{}' is no GPU that the template is for", name),
                                   "it is for NVIDIA's of compute capability 7.0 and later");
}

// Layers on an accelerator: their optimum is the mapper's.
Result<std::vector<tuning::Arena>> mappings(Context& context, const TuneCompareCommand& options) {
    const auto network = chosen_layers(context, options.tune);
    const auto machine = load_machine(context, options.tune.machine);
    Diagnostics found = network.diagnostics();
    found.append(machine.diagnostics());
    if (found.has_errors()) {
        return found;
    }
    if (const auto* gpu = std::get_if<model::Gpu>(&machine->kind)) {
        return kernels(context, options, *network, *gpu, machine->name);
    }
    const auto* accelerator = std::get_if<model::Accelerator>(&machine->kind);
    constexpr std::uint64_t kNodes = 2'000'000;
    std::vector<tuning::Arena> arenas;
    for (const model::Layer& layer : network->layers) {
        auto search_task =
            tuning::mapping_task(layer, *accelerator, {0.0, 1}, kNodes, context.stop());
        if (!search_task) {
            for (Diagnostic diagnostic : search_task.diagnostics()) {
                diagnostic.severity = Severity::warning;
                found.add(std::move(diagnostic));
            }
            continue;
        }
        tuning::Arena arena;
        arena.search_task = std::move(search_task->search_task);
        arena.target = std::move(search_task->target);
        arena.best_known = search_task->optimum;
        arena.proved = search_task->proved;
        arenas.push_back(std::move(arena));
    }
    context.report(found);
    return arenas;
}

Exit compare_searches(Context& context, const TuneCompareCommand& options) {
    if (options.recorded && options.from.empty()) {
        return context.fail_usage("--recorded reads logs", "name them: --replay LOG");
    }
    if (options.tune.network.empty() && options.from.empty()) {
        return context.fail_usage("which network? NETWORK is missing",
                                  "as in: eyeroof-dev tune-compare alexnet");
    }
    if (!options.from.empty()) {
        const auto lines = load_logs(context, options.from);
        if (!lines) {
            return context.fail(lines.diagnostics());
        }
        return options.recorded
                   ? write_comparison(context, options,
                                      tuning::compare_recorded(*lines, options.tune.trials))
                   : run_comparison(context, options, tuning::pools_of(*lines));
    }
    if (!options.tune.machine.empty()) {
        auto arenas = mappings(context, options);
        return arenas ? run_comparison(context, options, *std::move(arenas))
                      : context.fail(arenas.diagnostics());
    }
    const auto network = chosen_layers(context, options.tune);
    const auto layers = network ? tuning::workloads_of(*network)
                                : Result<std::vector<tuning::Workload>>(network.diagnostics());
    if (!layers) {
        return context.fail(layers.diagnostics());
    }
    context.report(layers.diagnostics());
    return run_comparison(context, options,
                          tuning::synthetic_tasks_of(*layers, tune_options(options.tune)));
}

constexpr const char* kTuneCompareExamples =
    "# which strategy needs how many trials: on synthetic targets, on logs, against a proven "
    "optimum\n"
    "eyeroof-dev tune-compare resnet18-c1-c12 --layers 'C[69]$' --trials 32 --seeds 3\n"
    "eyeroof-dev tune-compare --replay c6.jsonl --replay c9.jsonl\n"
    "eyeroof-dev tune-compare --replay c6.jsonl --replay c9.jsonl --recorded\n"
    "eyeroof-dev tune-compare alexnet --layers CONV3 --on eyeriss-v1 --trials 16 --seeds 2";

} // namespace

void add_tune_compare(Frame& frame) {
    auto options = std::make_shared<TuneCompareCommand>();
    options->tune.target = "model";
    CLI::App& app =
        frame.add("tune-compare",
                  "How many trials each search strategy needs to come near the best known kernel",
                  kTuneCompareExamples);
    add_tune_network(app, options->tune);
    app.add_option("--on", options->tune.machine,
                   "A GPU, whose kernels are computed, or an accelerator, whose mappings are tuned "
                   "[a synthetic target for this processor]")
        ->type_name("MACHINE|FILE");
    app.add_option("--replay", options->from, "Log whose trials are replayed instead (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_flag("--recorded", options->recorded,
                 "With --replay: the searches of the logs as they ran");
    app.add_flag("--ablation", options->ablation, "Groups of features instead of strategies");
    app.add_option("--seeds", options->seeds, "Runs of each")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_option("--jobs", options->jobs, "Threads; the answer does not depend on it")
        ->check(CLI::Range(1, 1024))
        ->capture_default_str();
    add_tune_synthetic(app, options->tune);
    add_tune_trees(app, options->tune);
    add_output(app, options->tune.output, {"text", "json", "csv", "svg"});
    frame.run(app, [options](Context& context) { return compare_searches(context, *options); });
}

} // namespace eyeroof::cli
