#include "cli/density.hpp"
#include "cli/exam_study.hpp"
#include "cli/fail_if.hpp"
#include "cli/origin.hpp"
#include "cli/search_options.hpp"
#include "cli/what_would_help.hpp"
#include "model/base/suggest.hpp"
#include "study/exam/gate.hpp"
#include "study/exam/run.hpp"
#include "study/formats/layer_csv.hpp"
#include "study/formats/mapping_yaml.hpp"
#include "study/report/advice.hpp"
#include "study/report/csv.hpp"
#include "study/report/html.hpp"
#include "study/report/json.hpp"
#include "study/report/markdown.hpp"
#include "study/report/text.hpp"
#include "study/tune/measured_best.hpp"
#include "study/upgrade/advice.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/what_if/knobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace eyeroof::cli {

namespace {

constexpr const char* kExamExamples =
    "# where AlexNet's time goes on Eyeriss, four images at a time\n"
    "eyeroof exam alexnet --batch 4 --on eyeriss-v1\n"
    "# two layers in full, with every step's reason, the mapping and the traffic\n"
    "eyeroof exam vgg16 --on tpu-v1 --layers 'CONV1_[12]' --details\n"
    "# the mapping that no other beats, sizes that need not divide included, and the proof\n"
    "eyeroof exam alexnet --on simba --layers CONV3 --mapping best --factors any --details\n"
    "# own layers on an own machine, for a spreadsheet\n"
    "eyeroof exam layers.csv --on mine.yaml --format csv -o result.csv\n"
    "# what was measured, below step seven, and which step's counters disagree\n"
    "eyeroof exam resnet50 --on a100-sxm-40gb --profile run.jsonl --ceilings measured.yaml\n"
    "# what zeros bring: pruned weights and zero activations, skipped\n"
    "eyeroof exam alexnet --on eyeriss-v2 --density alexnet-pruned\n"
    "# the best kernels that were measured, and which bound they reach\n"
    "eyeroof exam resnet18-c1-c12 --on server-2x20 --dtype fp32 --tuned log.jsonl\n"
    "# three machines side by side\n"
    "eyeroof exam resnet50 --on t4 --on l4 --on tpu-v1\n"
    "# what twice the clock would bring\n"
    "eyeroof exam resnet50 --on eyeriss-v1 --set clock=x2\n"
    "# what more of each parameter would bring\n"
    "eyeroof exam alexnet --on eyeriss-v1 --layers CONV3 --advice\n"
    "# what padding, a larger batch or fusing would win on a GPU\n"
    "eyeroof exam bert-base --on a100-sxm-40gb --advice\n"
    "# fail a build when a network gets too slow\n"
    "eyeroof exam resnet50 --on systolic:32x32 --fail-if 'net.utilization < 0.6'";

// The table that the layers were read from, to be repeated; nothing for networks of other kinds.
std::optional<study::read::LayerTable> table_of(const ExamOptions& options) {
    std::error_code ignored;
    const std::string& name = options.network; // a pipe of the caller's own is kept by its reader
    const bool kept = name == "-" || name == "/dev/stdin" || name.starts_with("/dev/fd/");
    if (!kept && !std::filesystem::is_regular_file(name, ignored)) {
        return std::nullopt;
    }
    const auto table = study::read::load_layer_csv(options.network);
    return table ? std::optional(*table) : std::nullopt;
}

std::string rendered(const study::Side& side, const ExamOptions& options, bool colour) {
    const study::Report& report = side.report;
    const study::MemoryFit* memory = side.memory ? &*side.memory : nullptr;
    const std::string& format = options.output.format;
    if (format == "json") {
        return study::to_json(report, memory);
    }
    if (format == "csv") {
        const auto table = table_of(options);
        return study::to_csv(report, table ? &*table : nullptr);
    }
    if (format == "md") {
        return study::to_markdown(report, memory);
    }
    if (format == "html") {
        return study::to_html(report, memory);
    }
    const auto ladders = options.steps == "all"     ? study::Ladders::all
                         : options.steps == "worst" ? study::Ladders::worst
                                                    : study::Ladders::automatic;
    return study::to_text(report, {colour, ladders, options.details}, memory);
}

// Says on stderr which layers' searches ended before their proof; were there any?
bool report_open(Context& context, const ExamOptions& options, const study::Report& report) {
    std::vector<std::string> open;
    double gap = 0.0;
    for (const study::LayerReport& layer : report.layers) {
        bool proved = true;
        for (const mapper::Certificate& c : layer.certificates) {
            proved = proved && c.proved;
            gap = std::max(gap, c.gap);
        }
        if (!proved) {
            open.push_back(layer.layer.name);
        }
    }
    if (open.empty()) {
        return false;
    }
    model::Diagnostics said;
    const std::string what =
        fmt::format("the searches of {} of {} layers ended before the proof, {} first: at most "
                    "{:.1f} % are left to gain",
                    open.size(), report.layers.size(), open.front(), 100.0 * gap);
    const std::string hint = "--nodes N gives them more effort";
    options.require_proof ? said.error("not-proved", what, hint)
                          : said.warning("not-proved", what, hint);
    context.report(said);
    return true;
}

// What --advice found: changes of shape on GPUs, parameters of the machine on accelerators.
struct Advised {
    std::vector<study::Advice> shapes;
    std::optional<study::Helps> helps;
};

model::Result<Advised> advised(Context& context, const model::Network& network,
                               const model::Machine& machine, const study::StudyOptions& wanted) {
    Advised advice;
    if (std::holds_alternative<model::Accelerator>(machine.kind)) {
        auto helps =
            study::what_would_help(network, machine, wanted, context.stop(), context.progress());
        if (!helps) {
            return model::Result<Advised>(helps.diagnostics());
        }
        advice.helps = *std::move(helps);
        return model::Result<Advised>(std::move(advice));
    }
    auto shapes = study::advise(network, machine, {wanted});
    if (!shapes) {
        return model::Result<Advised>(shapes.diagnostics());
    }
    advice.shapes = *std::move(shapes);
    return model::Result<Advised>(std::move(advice));
}

// The report, followed by advice where it was asked for.
std::string rendered(const study::Side& side, const ExamOptions& options, bool colour,
                     const Advised& advice) {
    std::string text = rendered(side, options, colour);
    if (!options.advice) {
        return text;
    }
    if (advice.helps) {
        return options.output.format == "json" ? with_helps(text, *advice.helps)
               : options.output.format == "md" ? text + helps_markdown(*advice.helps)
                                               : text + helps_text(*advice.helps);
    }
    return options.output.format == "json" ? study::with_advice(text, advice.shapes)
           : options.output.format == "md" ? text + study::advice_markdown(advice.shapes)
                                           : text + study::advice_text(advice.shapes);
}

// What --tuned names, merged. Errors: those of the logs.
model::Result<std::vector<study::tune::TrialLine>>
load_tuned(Context& context, const std::vector<std::string>& files) {
    std::vector<std::vector<study::tune::TrialLine>> logs;
    model::Diagnostics found;
    for (const std::string& file : files) {
        auto log = study::tune::load_trials(file);
        found.append(log.diagnostics());
        if (log) {
            logs.push_back(*std::move(log));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    context.report(found);
    return study::tune::merged(logs);
}

// The answer with the best of the logs behind it.
std::string with_tuned(Context& context, const std::string& text, const ExamOptions& options,
                       const study::Report& report,
                       const std::vector<study::tune::TrialLine>& lines) {
    const auto rows = study::tune::measured_best(report, lines);
    context.report(rows.diagnostics());
    return options.output.format == "json" ? study::tune::with_measured_best(text, *rows)
           : options.output.format == "md" ? text + study::tune::measured_best_markdown(*rows)
                                           : text + study::tune::measured_best_text(*rows);
}

// What is written beside the side itself.
struct Written {
    Advised advice;
    std::optional<std::vector<study::tune::TrialLine>> tuned;
    std::string command;
    const model::Machine& machine;
};

// Layer by layer where nothing more is to be put into the same document.
bool write_side(Context& context, const ExamOptions& options, const study::Side& side,
                const Written& more, const study::TextSink& sink) {
    if (options.output.format == "json" && !options.advice && !more.tuned) {
        return study::write_json(side.report, side.memory ? &*side.memory : nullptr, sink);
    }
    std::string text = rendered(side, options, context.colour(options.output.file), more.advice);
    if (more.tuned) {
        text = with_tuned(context, text, options, side.report, *more.tuned);
    }
    return sink(with_origin(std::move(text), options.output.format, more.command, {more.machine}));
}

Exit judged(Context& context, const ExamOptions& options, const FailIf& fail_if,
            const study::Side& side, const Written& more) {
    const study::Report& report = side.report;
    study::Verdict verdict;
    if (fail_if.gate()) {
        const auto judged = study::evaluate(*fail_if.gate(), report);
        if (!judged) {
            return context.fail(judged.diagnostics());
        }
        verdict = *judged;
    }
    const bool unproved = report_open(context, options, report) && options.require_proof;
    const bool no = verdict.holds || unproved;
    const Exit exit = context.write(
        [&](const study::TextSink& sink) { return write_side(context, options, side, more, sink); },
        options.output.file, no ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no && verdict.holds) {
        fail_if.tell(context, verdict);
    }
    return exit;
}

Exit exam(Context& context, const ExamOptions& options, const std::string& density,
          const std::vector<std::string>& tuned, const std::string& command) {
    const auto fail_if = FailIf::parse(options.fail_if, study::exam_gate_keys());
    if (!fail_if) {
        return context.fail(fail_if.diagnostics());
    }
    if (options.advice && (options.output.format == "csv" || options.output.format == "html")) {
        return context.fail_usage("--advice goes with the formats text, json and md",
                                  "leave --advice out, or write the advice with --format json");
    }
    if (options.advice && !density.empty()) {
        return context.fail_usage("--advice knows no zeros: leave --density away",
                                  "ask for one of them at a time");
    }
    if (!tuned.empty() && (options.output.format == "csv" || options.output.format == "html" ||
                           !options.compat.empty())) {
        return context.fail_usage("--tuned goes with the formats text, json and md",
                                  "leave --tuned out, or write --format json");
    }
    const auto wired = load_wired_workload(context, options.network, options.dims);
    if (options.compat == "scalesim") {
        return wired ? exam_scalesim(context, options, wired->network)
                     : context.fail(wired.diagnostics());
    }
    const auto machine = named_machine(context, options);
    const auto measured = load_measurements(context, options.measured);
    auto lines = load_tuned(context, tuned);
    model::Diagnostics all = wired.diagnostics();
    all.append(lines.diagnostics());
    all.append(machine.diagnostics());
    all.append(measured.diagnostics());
    if (all.has_errors()) { // all at once: nobody likes to be told one error at a time
        return context.fail(all);
    }
    context.report(all);
    const auto wanted = wanted_study(context, options, *machine);
    if (!wanted) {
        return context.fail(wanted.diagnostics());
    }
    auto report = density.empty() ? study::run(wired->network, *machine, *wanted, context.stop(),
                                               context.progress())
                                  : run_with_density(context, density, wired->network,
                                                     options.machine, *machine, *wanted);
    if (!report) {
        return context.fail(report.diagnostics());
    }
    context.report(report.diagnostics());
    add_chip_figures(context, *machine, *report);
    const auto laid = lay_over(*report, *machine, *measured);
    if (!laid) {
        return context.fail(laid.diagnostics());
    }
    context.report(laid.diagnostics());
    const auto memory = memory_of(context, options, *wired, *machine);
    Advised advice;
    if (options.advice) {
        const auto found = advised(context, wired->network, *machine, *wanted);
        if (!found) {
            return context.fail(found.diagnostics());
        }
        advice = *found;
    }
    return judged(context, options, *fail_if, {*std::move(report), memory},
                  {std::move(advice),
                   tuned.empty() ? std::nullopt : std::optional(*std::move(lines)), command,
                   *machine});
}

} // namespace

void add_dtype(CLI::App& app, std::string& type) {
    std::vector<std::string> dtypes;
    for (const std::string_view name : model::data_type_names()) {
        dtypes.emplace_back(name);
    }
    add_choice(app, "--dtype", type, dtypes, "Data type instead of the layers' own");
}

void add_set(CLI::App& app, std::vector<std::string>& changes) {
    app.add_option(
           "--set", changes,
           "Change the machine first: dram-bandwidth='1.2 TB/s', clock=x2 (repeatable), in any "
           "unit that a machine file takes; a wrong name lists all")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
}

namespace {

void add_model_options(CLI::App& app, ExamOptions& options) {
    add_choice(app, "--dataflow", options.dataflow,
               {"ws", "os", "is", "nlr", "rs", "rs-plus", "rs+", "free"},
               "Dataflow whose rules the mapping keeps, or none [the machine's first]");
    app.add_option("--batch", options.batch, "Multiply the network's batch by N")
        ->check(CLI::Range(std::int64_t{1}, model::kMaxDimension))
        ->type_name("N");
    add_dtype(app, options.dtype);
    add_dims(app, options.dims);
    add_phase(app, options.phase);
    add_set(app, options.set);
    app.add_option(
           "--mapping", options.mapping,
           fmt::format("{}; or a mapping file, eyeroof's or Timeloop's [auto]", kMappingWords))
        ->type_name("{auto,dataflow,best}|FILE");
    add_energies(app, options.energies);
    app.add_option("--constraints", options.constraints,
                   "What searched mappings must keep to, as Timeloop writes it")
        ->type_name("FILE");
    app.add_option("--objective", options.objective,
                   std::string(kObjectiveHelp) + " [edp; latency where no energies are known]")
        ->type_name("OBJECTIVE");
    add_choice(
        app, "--factors", options.factors, {"perfect", "any"},
        "Loops of searched mappings divide evenly, or any with a partial last trip [perfect]");
    add_effort(app, options.effort);
    app.add_flag("--require-proof", options.require_proof,
                 "Exit with 1 when a mapping was searched for and not proved to be the best");
    add_choice(app, "--counting", options.counting, {"eyeroof", "timeloop"},
               "Rules for counting accesses [eyeroof]");
    add_choice(app, "--launch", options.launch, {"eager", "stream", "kernel", "graph", "compiled"},
               "How kernels are launched, on GPUs [stream]");
    app.add_option("--host", options.host,
                   "What issues them (default: the server of the GPU's years)")
        ->type_name("MACHINE");
    add_choice(app, "--compat", options.compat, {"scalesim"},
               "Count compute cycles as another tool does, and show the difference");
    app.add_option("--threads", options.threads,
                   "Threads to use; the answer does not depend on it [all]")
        ->check(CLI::Range(0, 4096))
        ->type_name("N");
}

} // namespace

void add_exam(Frame& frame) {
    auto options = std::make_shared<ExamOptions>();
    auto density = std::make_shared<std::string>();
    CLI::App& app = frame.add("exam", "Examine a network on a machine: seven steps, layer by layer",
                              kExamExamples);
    app.add_option(
           "NETWORK", options->network,
           "Name in the catalog (eyeroof net list), a network YAML, a CSV of layers, an ONNX "
           "model, or a file of Timeloop's, SCALE-Sim's, MAESTRO's or ZigZag's")
        ->required()
        ->type_name("NETWORK|FILE");
    app.add_option(
           "--on", options->machines,
           "Name in the catalog (eyeroof hw list), a machine YAML, a Timeloop architecture, "
           "or systolic:ROWSxCOLS; given more than once, all side by side")
        ->required()
        ->allow_extra_args(false)
        ->type_name("MACHINE|FILE");
    add_model_options(app, *options);
    add_density(app, *density);
    add_measurement_options(app, options->measured);
    auto tuned = std::make_shared<std::vector<std::string>>();
    app.add_option("--tuned", *tuned,
                   "Log of `eyeroof tune`: its best beside what is predicted (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--layers", options->layers, "Only layers whose name matches")
        ->type_name("REGEX");
    add_fail_if(app, options->fail_if);
    add_choice(app, "--steps", options->steps, {"auto", "all", "worst"},
               "Ladders in text output: of all layers, or of the worst [auto: all up to 12]");
    app.add_flag("--details", options->details,
                 "In text output also every step's reason, mapping and traffic");
    app.add_flag(
        "--advice", options->advice,
        "Also what would help: on accelerators more of each parameter and each step for nothing, "
        "on GPUs padding, batch, wave-filling sizes and fusing");
    add_output(app, options->output, {"text", "json", "csv", "md", "html"});
    frame.run(app, [options, density, tuned, &app](Context& context) {
        options->machine = options->machines.front();
        if (options->machines.size() == 1) {
            return exam(context, *options, *density, *tuned, command_line(app));
        }
        return density->empty() && tuned->empty()
                   ? exam_side_by_side(context, *options, command_line(app))
                   : context.fail_usage("--density and --tuned go with one --on",
                                        "ask for one machine at a time");
    });
}

} // namespace eyeroof::cli
