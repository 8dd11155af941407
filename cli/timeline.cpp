// eyeroof timeline: host, streams and copies of a whole step over time.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/exam/words.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/program/settled.hpp"
#include "analysis/step/copy_ways.hpp"
#include "analysis/step/launch_ways.hpp"
#include "analysis/what_if/headline.hpp"
#include "cli/answer.hpp"
#include "cli/origin.hpp"
#include "cli/scenario_options.hpp"
#include "report/step/timeline_write.hpp"

namespace eyeroof::cli {

namespace {

namespace step = analysis::step;

struct TimelineOptions {
    ScenarioOptions scenario;
    bool compare_copies = false, compare_launches = false;
    std::string against;
    std::int64_t steps = 1;
    OutputOptions output;
};

// The program of a question, and its costs.
struct Played {
    step::Graph graph;
    step::Costs costs;
};
Result<Played> played(const analysis::Question& question, const model::Gpu& gpu) {
    auto graph = analysis::lower(question);
    if (!graph) {
        return graph.diagnostics();
    }
    auto costs = step::costs_of(*graph, gpu, analysis::software_of(question));
    if (!costs) {
        return costs.diagnostics();
    }
    return Played{*std::move(graph), *std::move(costs)};
}

// The same step on a host processor by itself.
Result<step::CopyWay> alone(Context& context, analysis::Question question,
                            const std::string& name) {
    auto machine = load_machine(context, name);
    if (!machine) {
        return machine.diagnostics();
    }
    question.machine = *std::move(machine);
    question.scenario.compiled = false; // compilers fuse for the GPU
    const auto* host = std::get_if<model::Gpu>(&question.machine.kind);
    if (host == nullptr || host->arch != model::GpuArch::host) {
        return Result<step::CopyWay>::failure(
            "not-a-host", question.machine.id + " is not a host processor",
            "`eyeroof hw list` has the hosts, such as laptop-quad-3.1ghz");
    }
    const auto step = played(question, *host);
    if (!step) {
        return step.diagnostics();
    }
    return step::host_alone(step->graph, step->costs, *host,
                            analysis::timeline_options(question, *host));
}

Exit compare_copies(Context& context, const TimelineOptions& options,
                    const analysis::Question& question, const model::Gpu& gpu) {
    const auto step = played(question, gpu);
    if (!step) {
        return context.fail(step.diagnostics());
    }
    step::CopyWays found;
    found.network = step->graph.id;
    found.machine = question.machine.id;
    found.against = options.against;
    found.training = question.scenario.training.has_value();
    found.steps = static_cast<double>(options.steps);
    if (!options.against.empty()) {
        auto way = alone(context, question, options.against);
        if (!way) {
            return context.fail(way.diagnostics());
        }
        found.ways.push_back(*std::move(way));
    }
    for (step::CopyWay& way : step::copy_ways(step->graph, step->costs, gpu,
                                              analysis::timeline_options(question, gpu))) {
        found.ways.push_back(std::move(way));
    }
    report::Answer answer = report::copies_answer(found);
    answer.question = analysis::scenario_words(question);
    return write_answer(context, answer, options.output);
}

Exit compare_launches(Context& context, const TimelineOptions& options,
                      const analysis::Question& question, const model::Gpu& gpu) {
    if (gpu.arch == model::GpuArch::host) {
        return context.fail_usage(
            "--compare-launches is for GPUs: a host processor launches nothing",
            "`eyeroof hw list` names the GPUs");
    }
    const auto step = played(question, gpu);
    if (!step) {
        return context.fail(step.diagnostics());
    }
    step::LaunchWays found =
        step::launch_ways(step->graph, step->costs, gpu, analysis::timeline_options(question, gpu),
                          question.scenario.training.has_value());
    found.machine = question.machine.id;
    report::Answer answer = report::launches_answer(found);
    answer.question = analysis::scenario_words(question);
    return write_answer(context, answer, options.output);
}

Exit timeline(Context& context, TimelineOptions& options, const std::string& command) {
    if (options.compare_copies && options.compare_launches) {
        return context.fail_usage("--compare-copies and --compare-launches are two tables",
                                  "ask for one at a time");
    }
    if (!options.compare_copies && (options.steps != 1 || !options.against.empty())) {
        return context.fail_usage("--against and --repeat belong to --compare-copies",
                                  "add --compare-copies, or leave them out");
    }
    const auto question = question_of(context, options.scenario);
    if (!question) {
        return context.fail(question.diagnostics());
    }
    context.report(question.diagnostics());
    const auto* gpu = std::get_if<model::Gpu>(&question->machine.kind);
    if (gpu == nullptr) {
        Diagnostics wrong;
        wrong.error("not-a-gpu", "a timeline is predicted for GPUs and host processors",
                    "`eyeroof hw list` names them; `eyeroof exam` takes accelerators");
        return context.fail(wrong);
    }
    if (options.compare_launches || options.compare_copies) {
        if (options.output.format == "trace" || options.output.format == "svg") {
            return context.fail_usage("a table of ways has no picture and no trace",
                                      "one way has, such as --copies batch or --launch graph");
        }
        const auto now = analysis::run(*question, context.stop());
        context.report(now ? analysis::fit_warning(*now) : Diagnostics{});
    }
    if (options.compare_launches) {
        const analysis::Question runs = analysis::as_it_runs(*question);
        return compare_launches(context, options, runs, std::get<model::Gpu>(runs.machine.kind));
    }
    if (options.compare_copies) {
        const analysis::Question runs = analysis::as_it_runs(*question);
        return compare_copies(context, options, runs, std::get<model::Gpu>(runs.machine.kind));
    }
    auto report = analysis::run(*question, context.stop(), context.progress());
    if (!report) {
        return context.fail(report.diagnostics());
    }
    context.report(report.diagnostics());
    context.report(analysis::fit_warning(*report));
    analysis::find_headline(*report, *question, context.stop());
    const report::TimelineReport step{*report, *gpu};
    return options.output.format == "trace"
               ? context.write(report::timeline_trace(step), options.output.file)
               : write_answer(context, report::timeline_answer(step), options.output, command,
                              {question->machine});
}

} // namespace

void add_timeline(Frame& frame) {
    auto options = std::make_shared<TimelineOptions>();
    CLI::App& app = frame.add(
        "timeline", "Show a whole step over time: CPU launches, kernels, and copies",
        "# how long the GPU waits for PyTorch's calls in BERT's inference\n"
        "eyeroof timeline bert-large --on a100-sxm-40gb\n"
        "# a training step, every operator, as a trace for Perfetto or chrome://tracing\n"
        "eyeroof timeline resnet50 --on v100-sxm2-16gb --phase training --format trace -o a.json\n"
        "# the batch goes to the GPU in each step, from pageable memory\n"
        "eyeroof timeline resnet18 --batch 32 --on k80-die --dtype fp32 --copies batch --pageable\n"
        "# ten epochs of MNIST: a laptop alone, and a K80 that copies all data or only batches\n"
        "eyeroof timeline mnist-cnn --on k80-die --dtype fp32 --compare-copies "
        "--against laptop-quad-3.1ghz\n"
        "# many small GEMMs: eager, a captured graph, or one persistent kernel\n"
        "eyeroof timeline alexnet --on v100-sxm2-16gb --compare-launches\n"
        "# own network with a `graph`, as a picture\n"
        "eyeroof timeline mine.yaml --on t4 --launch graph --format svg -o step.svg");
    add_scenario(app, options->scenario);
    app.add_flag("--compare-copies", options->compare_copies,
                 "Compare all ways to copy data to the device");
    app.add_flag(
        "--compare-launches", options->compare_launches,
        "Compare all ways to launch the kernels, including one persistent kernel that packs them");
    app.add_option("--against", options->against,
                   "With --compare-copies: a host processor that does it alone")
        ->type_name("HOST");
    app.add_option("--repeat", options->steps, "With --compare-copies: number of steps [1]")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    std::vector<std::string> formats = answer_formats(true);
    formats.emplace_back("trace");
    add_output(app, options->output, formats);
    frame.run(app, [options, &app](Context& context) {
        return timeline(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
