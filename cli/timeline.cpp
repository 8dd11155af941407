// eyeroof timeline: host, streams and copies of a whole step over time.
#include "cli/step_inputs.hpp"
#include "study/step/fusion.hpp"
#include "study/step/timeline_write.hpp"

#include <map>

namespace eyeroof::cli {

namespace {

namespace step = study::step;

struct Options {
    StepOptions step;
    std::string mode = "stream", copies = "none";
    int streams = 1;
    bool pageable = false;
};

step::TimelineOptions timeline_options(const Options& options, const StepInputs& inputs) {
    static const std::map<std::string, step::Mode> modes = {
        {"eager", step::Mode::eager},
        {"stream", step::Mode::stream},
        {"graph", step::Mode::graph},
        {"fused", step::Mode::fused},
        {"fused-graph", step::Mode::fused_graph}};
    static const std::map<std::string, step::Copies> copies = {
        {"none", step::Copies::none}, {"batch", step::Copies::batch}, {"all", step::Copies::all}};
    return {modes.at(options.mode), inputs.host, options.streams, copies.at(options.copies),
            options.pageable};
}

std::string rendered(const step::TimelineReport& report, const std::string& format) {
    return format == "json"    ? step::timeline_json(report)
           : format == "svg"   ? step::timeline_svg(report)
           : format == "html"  ? step::timeline_html(report)
           : format == "trace" ? step::timeline_trace(report)
                               : step::timeline_text(report);
}

Exit timeline(Context& context, const Options& options) {
    const auto inputs = load_step(context, options.step);
    if (!inputs) {
        return context.fail(inputs.diagnostics());
    }
    context.report(inputs.diagnostics());
    const step::TimelineOptions wanted = timeline_options(options, *inputs);
    const bool fused = step::fuses(wanted.mode);
    const step::Rewired rewired = fused ? step::with_attention(inputs->network, inputs->wiring)
                                        : step::Rewired{inputs->network, inputs->wiring, 0};
    auto graph = step::make_graph(rewired.network, rewired.wiring, inputs->graph_options);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    auto costs = step::costs_of(*graph, inputs->gpu(), step::launch_of(wanted.mode));
    if (!costs) {
        return context.fail(costs.diagnostics());
    }
    if (fused) {
        step::Fused made = step::fuse(*graph, *costs, inputs->gpu());
        *graph = std::move(made.graph);
        *costs = std::move(made.costs);
    }
    const step::Timeline line = step::simulate(*graph, *costs, inputs->gpu(), wanted);
    const step::TimelineReport report{*graph,
                                      line,
                                      inputs->gpu(),
                                      wanted,
                                      inputs->machine.id,
                                      inputs->host_id,
                                      options.step.phase.phase == "training"};
    return context.write(rendered(report, options.step.output.format), options.step.output.file);
}

} // namespace

void add_timeline(Frame& frame) {
    auto options = std::make_shared<Options>();
    CLI::App& app = frame.add(
        "timeline", "A whole step over time: what the host issues, the device runs, copies move",
        "# how much of BERT's inference the GPU waits for PyTorch's calls\n"
        "eyeroof timeline bert-large --on a100-sxm-40gb --mode eager\n"
        "# a training step, every operator, as a trace for Perfetto or chrome://tracing\n"
        "eyeroof timeline resnet50 --on v100-sxm2-16gb --phase training --format trace -o a.json\n"
        "# the batch goes to the GPU each step, pageable\n"
        "eyeroof timeline resnet18 --batch 32 --on k80-die --dtype fp32 --copies batch --pageable\n"
        "# own network with a `graph`, as a picture\n"
        "eyeroof timeline mine.yaml --on t4 --mode graph --format svg -o step.svg");
    add_step_options(app, options->step);
    add_choice(app, "--mode", options->mode, {"eager", "stream", "graph", "fused", "fused-graph"},
               "How operators are issued: a framework's calls, back-to-back launches, a captured "
               "graph; kernels as a compiler fuses them, called or captured");
    app.add_option("--streams", options->streams,
                   "Streams for operators that do not wait for each other")
        ->check(CLI::Range(1, 64))
        ->type_name("N");
    add_choice(app, "--copies", options->copies, {"none", "batch", "all"},
               "What moves between host and device in each step: nothing, the batch and the "
               "output, or the weights too");
    app.add_flag("--pageable", options->pageable,
                 "Copies from memory that is not pinned: half the rate, and the host waits");
    add_output(app, options->step.output, {"text", "json", "svg", "html", "trace"});
    frame.run(app, [options](Context& context) { return timeline(context, *options); });
}

} // namespace eyeroof::cli
