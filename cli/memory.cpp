// eyeroof memory: what a step holds over time, what holds its peak, the largest batch.
#include "cli/step_inputs.hpp"
#include "study/step/fit.hpp"
#include "study/step/footprint.hpp"
#include "study/step/memory_write.hpp"

namespace eyeroof::cli {

namespace {

namespace step = study::step;
using model::Count;

struct MemoryOptions {
    StepOptions step;
    std::string memory, precision = "usual";
    bool no_workspace = false;
};

Exit memory(Context& context, const MemoryOptions& options) {
    auto inputs = load_step(context, options.step);
    if (!inputs) {
        return context.fail(inputs.diagnostics());
    }
    context.report(inputs.diagnostics());
    Count limit = step::capacity_of(inputs->gpu());
    if (!options.memory.empty()) {
        const auto bytes = model::parse_quantity(options.memory, "B", "a memory");
        if (!bytes) {
            return context.fail_usage("--memory " + options.memory + " is no amount of memory",
                                      "as in --memory 16GB or 24GiB");
        }
        limit = static_cast<Count>(*bytes);
    }
    const auto type = inputs->network.layers.front().types.weight;
    inputs->graph_options.precision = step::precision_of(*step::regime_from_name(options.precision),
                                                         type, options.step.phase.optimizer);
    const auto graph = step::make_graph(inputs->network, inputs->wiring, inputs->graph_options);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    const auto beside =
        options.no_workspace ? std::vector<Count>{} : step::workspaces_of(*graph, inputs->gpu());
    const step::Memory found = step::memory_of(*graph, beside);
    step::MemoryReport report{
        *graph, found,       inputs->machine.id, options.step.phase.phase == "training",
        limit,  std::nullopt};
    report.largest_batch = step::largest_fitting_batch(
        {inputs->network, inputs->wiring, inputs->graph_options, !options.no_workspace},
        inputs->gpu(), limit, context.stop());
    const std::string& format = options.step.output.format;
    return context.write(format == "json"  ? step::memory_json(report)
                         : format == "csv" ? step::memory_csv(report)
                         : format == "svg" ? step::memory_svg(report)
                                           : step::memory_text(report),
                         options.step.output.file, report.fits() ? Exit::done : Exit::says_no);
}

} // namespace

void add_memory(Frame& frame) {
    auto options = std::make_shared<MemoryOptions>();
    CLI::App& app = frame.add(
        "memory", "A step's memory over time: the peak, what holds it, the largest batch",
        "# does a training step fit, and what holds its peak?\n"
        "eyeroof memory bert-large --on a100-sxm-40gb --phase training --optimizer adam "
        "--dim dropout=1\n"
        "# in 24 GB; exit 1 when it does not fit\n"
        "eyeroof memory llama-3.2-1b --on rtx-4090 --phase training --memory 24GB\n"
        "# the curve as a picture\n"
        "eyeroof memory resnet50 --batch 64 --on v100-sxm2-16gb --phase training --format svg "
        "-o memory.svg");
    options->step.timed = false;
    add_step_options(app, options->step);
    app.add_option("--memory", options->memory,
                   "Bytes for tensors [the machine's, less 0.5 GB for a process]")
        ->type_name("SIZE");
    add_choice(app, "--precision", options->precision, step::regime_names(),
               "How training keeps gradients and states: as the types suggest; 16-bit with an fp32 "
               "copy; with fp32 gradients; without a copy; states of 8 bits");
    app.add_flag("--no-workspace", options->no_workspace,
                 "Leave out what convolutions need beside their tensors");
    add_output(app, options->step.output, {"text", "json", "csv", "svg"});
    frame.run(app, [options](Context& context) { return memory(context, *options); });
}

} // namespace eyeroof::cli
