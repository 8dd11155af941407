// eyeroof timeline: host, streams and copies of a whole step over time.
#include "cli/origin.hpp"
#include "cli/step_inputs.hpp"
#include "study/step/copy_ways.hpp"
#include "study/step/fusion.hpp"
#include "study/step/timeline_write.hpp"

#include <map>

namespace eyeroof::cli {

namespace {

namespace step = study::step;

struct TimelineOptions {
    StepOptions step;
    std::string mode = "stream", copies = "none", against;
    std::int64_t steps = 1;
    int streams = 1;
    bool pageable = false;
};

step::TimelineOptions timeline_options(const TimelineOptions& options, const StepInputs& inputs) {
    static const std::map<std::string, step::Mode> modes = {
        {"eager", step::Mode::eager},
        {"stream", step::Mode::stream},
        {"graph", step::Mode::graph},
        {"fused", step::Mode::fused},
        {"fused-graph", step::Mode::fused_graph}};
    static const std::map<std::string, step::Copies> copies = {
        {"none", step::Copies::none}, {"batch", step::Copies::batch}, {"all", step::Copies::all}};
    const auto copied = copies.find(options.copies);
    return {modes.at(options.mode), inputs.host, options.streams,
            copied == copies.end() ? step::Copies::none : copied->second, options.pageable};
}

std::string rendered(const step::TimelineReport& report, const std::string& format) {
    return format == "json"    ? step::timeline_json(report)
           : format == "svg"   ? step::timeline_svg(report)
           : format == "html"  ? step::timeline_html(report)
           : format == "trace" ? step::timeline_trace(report)
                               : step::timeline_text(report);
}

// The host by itself, where one is named.
model::Result<step::CopyWay> alone(Context& context, const TimelineOptions& options,
                                   const StepInputs& inputs, const step::Graph& graph) {
    const auto machine = load_machine(context, options.against);
    if (!machine) {
        return machine.diagnostics();
    }
    const auto* host = std::get_if<model::Gpu>(&machine->kind);
    if (host == nullptr || host->arch != model::GpuArch::host) {
        return model::Result<step::CopyWay>::failure(
            "not-a-host", machine->id + " is no host processor",
            "`eyeroof hw list` has the hosts, such as laptop-quad-3.1ghz");
    }
    const step::TimelineOptions wanted = timeline_options(options, inputs);
    const auto costs = step::costs_of(graph, *host, step::launch_of(wanted.mode));
    if (!costs) {
        return costs.diagnostics();
    }
    return step::host_alone(graph, *costs, *host, wanted);
}

// `plain`: before fusion, for a host.
Exit compare_copies(Context& context, const TimelineOptions& options, const StepInputs& inputs,
                    const step::Graph& plain, const step::Graph& graph, const step::Costs& costs) {
    const std::string& format = options.step.output.format;
    if (format != "text" && format != "json") {
        return context.fail_usage("--copies compare is written as text and JSON, not as " + format,
                                  "one way, such as --copies batch, has a picture and a trace");
    }
    step::CopyWays found{graph.id,
                         inputs.machine.id,
                         options.against,
                         options.step.phase.phase == "training",
                         static_cast<double>(options.steps),
                         {}};
    if (!options.against.empty()) {
        auto way = alone(context, options, inputs, plain);
        if (!way) {
            return context.fail(way.diagnostics());
        }
        found.ways.push_back(*std::move(way));
    }
    for (step::CopyWay& way :
         step::copy_ways(graph, costs, inputs.gpu(), timeline_options(options, inputs))) {
        found.ways.push_back(std::move(way));
    }
    return context.write(format == "json" ? step::copy_ways_json(found)
                                          : step::copy_ways_text(found),
                         options.step.output.file);
}

Exit timeline(Context& context, const TimelineOptions& options, const std::string& command) {
    if (options.copies != "compare" && (options.steps != 1 || !options.against.empty())) {
        return context.fail_usage("--against and --steps belong to --copies compare",
                                  "add --copies compare, or leave them out");
    }
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
    const step::Graph plain = *graph;
    if (fused) {
        step::Fused made = step::fuse(*graph, *costs, inputs->gpu());
        *graph = std::move(made.graph);
        *costs = std::move(made.costs);
    }
    if (options.copies == "compare") {
        return compare_copies(context, options, *inputs, plain, *graph, *costs);
    }
    const step::Timeline line = step::simulate(*graph, *costs, inputs->gpu(), wanted);
    const step::TimelineReport report{*graph,
                                      line,
                                      inputs->gpu(),
                                      wanted,
                                      inputs->machine.id,
                                      inputs->host_id,
                                      options.step.phase.phase == "training"};
    const std::string& format = options.step.output.format;
    return context.write(with_origin(rendered(report, format), format, command, {inputs->machine}),
                         options.step.output.file);
}

} // namespace

void add_timeline(Frame& frame) {
    auto options = std::make_shared<TimelineOptions>();
    CLI::App& app = frame.add(
        "timeline", "A whole step over time: what the host issues, the device runs, copies move",
        "# how much of BERT's inference the GPU waits for PyTorch's calls\n"
        "eyeroof timeline bert-large --on a100-sxm-40gb --mode eager\n"
        "# a training step, every operator, as a trace for Perfetto or chrome://tracing\n"
        "eyeroof timeline resnet50 --on v100-sxm2-16gb --phase training --format trace -o a.json\n"
        "# the batch goes to the GPU each step, pageable\n"
        "eyeroof timeline resnet18 --batch 32 --on k80-die --dtype fp32 --copies batch --pageable\n"
        "# ten epochs of MNIST: a laptop alone, and a K80 with everything moved or only batches\n"
        "eyeroof timeline mnist-cnn --on k80-die --against laptop-quad-3.1ghz --copies compare "
        "--dtype fp32\n"
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
    add_choice(app, "--copies", options->copies, {"none", "batch", "all", "compare"},
               "What moves between host and device in each step: nothing, the batch and the "
               "output, or the weights too; compare: all of them side by side");
    app.add_option("--against", options->against,
                   "With --copies compare: a host processor that does it alone")
        ->type_name("HOST");
    app.add_option("--steps", options->steps, "With --copies compare: what so many steps take")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    app.add_flag("--pageable", options->pageable,
                 "Copies from memory that is not pinned: half the rate, and the host waits");
    add_output(app, options->step.output, {"text", "json", "svg", "html", "trace"});
    frame.run(app, [options, &app](Context& context) {
        return timeline(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
