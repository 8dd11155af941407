#include "cli/tune/tune_program.hpp"

#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "cli/tune/wanted.hpp"
#include "report/tune/tune_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

// Wrong together.
std::optional<Diagnostic> refusal(const TuneCommand& options) {
    const auto error = [](std::string code, std::string text, std::string hint) {
        return Diagnostic{
            Severity::error, std::move(code), std::move(text), std::move(hint), {}, {}};
    };
    if (!options.machine.empty() && options.target != "model") {
        return error("usage", "--on is for --target model", "--target cpu measures this host");
    }
    if (options.end_to_end && options.target != "cpu") {
        return error("usage", "--end-to-end runs the network on this host", "leave --target out");
    }
    if (options.end_to_end && !options.layers.empty()) {
        return error("usage", "--end-to-end needs kernels of every layer", "leave --layers out");
    }
    if (options.network.empty()) {
        return error("usage", "which network? NETWORK is missing", "as in: eyeroof tune alexnet");
    }
    return std::nullopt;
}

// The GPU that --on names.
Result<tuning::GpuMachine> computed_gpu(Context& context, const TuneCommand& options) {
    using Made = Result<tuning::GpuMachine>;
    const auto machine = load_machine(context, options.machine);
    if (!machine) {
        return Made(machine.diagnostics());
    }
    const auto* gpu = std::get_if<model::Gpu>(&machine->kind);
    if (gpu == nullptr) {
        return Made::failure("usage", "kernels are tuned on GPUs, mappings of accelerators are not",
                             "`eyeroof map` finds the best one");
    }
    const auto made = tuning::gpu_machine_of(*gpu, machine->name);
    return made ? Made(*made)
                : Made::failure(
                      "unsupported",
                      fmt::format("'{}' is no GPU that the template is for", machine->name),
                      "it is for NVIDIA's of compute capability 7.0 and later");
}

// What is tuned: the layers that are chosen, or those of the network that runs in the end.
Result<std::vector<tuning::Workload>> wanted_layers(Context& context, const TuneCommand& options,
                                                    tuning::TuneOptions& wanted) {
    using Wanted = Result<std::vector<tuning::Workload>>;
    if (options.end_to_end) {
        auto plan = whole_network(context, options);
        if (!plan) {
            return Wanted(plan.diagnostics());
        }
        wanted.network = *std::move(plan);
        return wanted.network->works;
    }
    const auto network = chosen_layers(context, options);
    return network ? tuning::workloads_of(*network) : Wanted(network.diagnostics());
}

Exit search(Context& context, const TuneCommand& options) {
    tuning::TuneOptions wanted = tune_options(options);
    const auto layers = wanted_layers(context, options, wanted);
    const auto transfer = load_logs(context, options.transfer);
    Diagnostics found = layers.diagnostics();
    found.append(transfer.diagnostics());
    if (found.has_errors()) {
        return context.fail(found);
    }
    if (!options.machine.empty()) {
        auto gpu = computed_gpu(context, options);
        if (!gpu) {
            return context.fail(gpu.diagnostics());
        }
        wanted.computed_gpu = *std::move(gpu);
    }
    wanted.transfer = *transfer;
    std::optional<tuning::TrialLog> log;
    if (!options.log.empty()) {
        auto opened = tuning::TrialLog::open(options.log);
        if (!opened) {
            return context.fail(opened.diagnostics());
        }
        found.append(opened.diagnostics());
        log.emplace(*std::move(opened));
    }
    context.report(found);
    context.take_time_to_stop(std::chrono::milliseconds(2000)); // to end a candidate and clean up
    const auto result = tuning::tune_layers(*layers, wanted, log ? &*log : nullptr, context.stop(),
                                            context.progress(true));
    if (!result) {
        return context.fail(result.diagnostics());
    }
    return write_answer(context, report::tune_answer(*result, options.details), options.output,
                        result->stopped ? Exit::cancelled : Exit::done);
}

Exit run_tune(Context& context, const TuneCommand& options) {
    if (const auto refused = refusal(options)) {
        Diagnostics found;
        found.add(*refused);
        return context.fail(found);
    }
    return search(context, options);
}

} // namespace

const Program& tune_program() {
    static const Program program = {"eyeroof", "Search for the fastest implementation of a layer.",
                                    "eyeroof tune resnet18-c1-c12 --target model",
                                    [](Frame& frame) { add_tune_command(frame, run_tune); },
                                    "tune"};
    return program;
}

Result<int> tune_in_this_process(const std::string&, const std::vector<std::string>& arguments,
                                 const Environment& environment) {
    return run_program(arguments, environment, tune_program());
}

} // namespace eyeroof::cli
