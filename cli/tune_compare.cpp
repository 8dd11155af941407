// eyeroof tune --compare: strategies against each other, on stand-ins, on logs, on mappings.
#include "analysis/tune/compare.hpp"
#include "cli/own_library.hpp"
#include "cli/tune_options.hpp"
#include "model/machine/machine.hpp"
#include "report/tune/compare_write.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

Exit write_comparison(Context& context, const TuneCommand& options,
                      const tuning::Comparison& made) {
    const std::string& format = options.output.format;
    if (made.stopped) {
        Diagnostics found;
        found.error("cancelled", "stopped before all runs were there");
        return context.fail(found);
    }
    return context.write(format == "json"  ? report::comparison_json(made)
                         : format == "csv" ? report::comparison_csv(made)
                         : format == "svg" ? report::comparison_svg(made)
                                           : report::comparison_text(made),
                         options.output.file);
}

Exit run_comparison(Context& context, const TuneCommand& options,
                    std::vector<tuning::Arena> arenas) {
    if (arenas.empty()) {
        Diagnostics found;
        found.error("too-few", "no layer of the logs has 32 different measured points");
        return context.fail(found);
    }
    const bool pools = !options.from.empty();
    const auto contenders =
        options.ablation ? tuning::feature_contenders(pools) : tuning::usual_contenders(pools);
    auto made = tuning::compare(arenas, contenders, options.seeds, options.trials, options.jobs,
                                context.stop(), context.progress());
    if (pools && options.ablation && !made.stopped) {
        tuning::TreeOptions trees = strategy_of(options).trees;
        tuning::hold_out(arenas, trees, made, context.stop());
    }
    return write_comparison(context, options, made);
}

// Layers on a GPU that is computed.
Result<std::vector<tuning::Arena>> kernels(Context& context, const TuneCommand& options,
                                           const model::Network& network, const model::Gpu& gpu,
                                           const std::string& name) {
    using Made = Result<std::vector<tuning::Arena>>;
    const auto layers = tuning::workloads_of(network);
    if (!layers) {
        return Made(layers.diagnostics());
    }
    context.report(layers.diagnostics());
    const auto machine = tuning::gpu_machine_of(gpu, name);
    return machine ? Made(tuning::stand_ins_of(*layers, *machine, tune_options(options)))
                   : Made::failure("unsupported",
                                   fmt::format("'{}' is no GPU that the template is for", name),
                                   "it is for NVIDIA's of compute capability 7.0 and later");
}

// Layers on an accelerator: their optimum is the mapper's.
Result<std::vector<tuning::Arena>> mappings(Context& context, const TuneCommand& options) {
    const auto network = chosen_layers(context, options);
    const auto machine = load_machine(context, options.machine);
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
        auto subject =
            tuning::mapping_subject(layer, *accelerator, {0.0, 1}, kNodes, context.stop());
        if (!subject) {
            for (Diagnostic diagnostic : subject.diagnostics()) {
                diagnostic.severity = Severity::warning;
                found.add(std::move(diagnostic));
            }
            continue;
        }
        tuning::Arena arena;
        arena.subject = std::move(subject->subject);
        arena.target = std::move(subject->target);
        arena.best_known = subject->optimum;
        arena.proved = subject->proved;
        arenas.push_back(std::move(arena));
    }
    context.report(found);
    return arenas;
}

} // namespace

Exit compare_searches(Context& context, const TuneCommand& options) {
    if (!options.from.empty()) {
        const auto lines = load_logs(context, options.from);
        if (!lines) {
            return context.fail(lines.diagnostics());
        }
        return options.recorded ? write_comparison(context, options,
                                                   tuning::compare_recorded(*lines, options.trials))
                                : run_comparison(context, options, tuning::pools_of(*lines));
    }
    if (!options.machine.empty()) {
        auto arenas = mappings(context, options);
        return arenas ? run_comparison(context, options, *std::move(arenas))
                      : context.fail(arenas.diagnostics());
    }
    const auto network = chosen_layers(context, options);
    const auto layers = network ? tuning::workloads_of(*network)
                                : Result<std::vector<tuning::Workload>>(network.diagnostics());
    if (!layers) {
        return context.fail(layers.diagnostics());
    }
    context.report(layers.diagnostics());
    return run_comparison(context, options, tuning::stand_ins_of(*layers, tune_options(options)));
}

} // namespace eyeroof::cli
