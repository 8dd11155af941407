// eyeroof exam: the seven steps of a network on a machine, layer by layer.
#include "analysis/advice/what_helps.hpp"
#include "analysis/exam/gate.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/trials/measured_best.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/lines.hpp"
#include "base/text_file.hpp"
#include "cli/exam_options.hpp"
#include "cli/fail_if.hpp"
#include "cli/origin.hpp"
#include "formats/layer_csv.hpp"
#include "formats/network_readers.hpp"
#include "formats/trace_gpu.hpp"
#include "profiles/import/importer.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/text.hpp"
#include "report/exam/traced_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace eyeroof::cli {

namespace {

constexpr const char* kExamExamples =
    "# where AlexNet's time goes on Eyeriss, four images at a time\n"
    "eyeroof exam alexnet --batch 4 --on eyeriss-v1\n"
    "# the same question with twice the clock\n"
    "eyeroof exam alexnet --batch 4 --on eyeriss-v1 --format json -o answer.json\n"
    "eyeroof exam --scenario answer.json --set clock=x2\n"
    "# two layers in full: the reason of every step, the mapping, and the traffic\n"
    "eyeroof exam vgg16 --on tpu-v1 --layers 'CONV1_[12]' --details\n"
    "# the optimal mapping with its proof, imperfect factors included\n"
    "eyeroof exam alexnet --on simba --layers CONV3 --mapping best --factors any --details\n"
    "# a training step on a GPU, compiled, as a captured graph\n"
    "eyeroof exam resnet50 --batch 64 --phase training --on a100-sxm-40gb --compiled --launch "
    "graph\n"
    "# your own layers on your own machine, for a spreadsheet\n"
    "eyeroof exam layers.csv --on mine.yaml --format csv -o result.csv\n"
    "# what was measured, below step seven, and which step's counters disagree\n"
    "eyeroof exam resnet50 --on a100-sxm-40gb --profile run.jsonl --ceilings measured.yaml\n"
    "# what a PyTorch trace says, as a page: timeline, roofline, operators\n"
    "eyeroof exam trace.json.gz --format html -o trace.html\n"
    "# several ranks of one run: imbalance, and which rank waits for which\n"
    "eyeroof exam rank0.json.gz rank1.json.gz\n"
    "# what skipping zeros gains: pruned weights and zero activations\n"
    "eyeroof exam alexnet --on eyeriss-v2 --density alexnet-pruned\n"
    "eyeroof exam vgg16 --on scnn --density inputs=0.5,weights=0.3 --layers CONV3 --details\n"
    "eyeroof exam googlenet --on scnn --density curve\n"
    "# how far a network scales over the cores of a package\n"
    "eyeroof exam alexnet --on simba --cores --hop 20ns --link 100GB/s\n"
    "eyeroof exam alexnet --on one-large-four-small --search-nodes 500\n"
    "# area and power of the chip by component\n"
    "eyeroof exam alexnet --on eyeriss-v1 --layers CONV --chip\n"
    "# the best kernels that were measured, and which bound they reach\n"
    "eyeroof exam resnet18-c1-c12 --on server-2x20 --dtype fp32 --tuned log.jsonl\n"
    "# three machines side by side\n"
    "eyeroof exam resnet50 --on t4 --on l4 --on tpu-v1\n"
    "# what more of each parameter would bring\n"
    "eyeroof exam alexnet --on eyeriss-v1 --layers CONV3 --advice\n"
    "# what padding, a larger batch or fusing would win on a GPU\n"
    "eyeroof exam bert-base --on a100-sxm-40gb --advice\n"
    "# fail a build when a network gets too slow\n"
    "eyeroof exam resnet50 --on systolic:32x32 --fail-if 'net.utilization < 0.6'";

// The table that the layers are read from, which CSV repeats; nothing for other formats and for
// networks of other kinds.
Result<std::optional<formats::LayerTable>> table_of(const analysis::Scenario& scenario,
                                                    const std::string& format) {
    using Table = Result<std::optional<formats::LayerTable>>;
    const std::string& name = scenario.network;
    std::error_code ignored; // a pipe of the caller's own can be read again
    const bool kept = name == "-" || name == "/dev/stdin" || name.starts_with("/dev/fd/");
    if (format != "csv" || !scenario.sizes.empty() ||
        (!kept && !std::filesystem::is_regular_file(name, ignored))) {
        return Table(std::nullopt);
    }
    auto text = read_text_file(name, formats::kMaxCsvBytes);
    if (!text || formats::network_reader_of(*text) != nullptr) {
        return Table(std::nullopt);
    }
    auto table = formats::parse_layer_csv(*std::move(text), name);
    return table ? Table(*std::move(table), table.diagnostics()) : Table(std::nullopt);
}

// Of a network that is read already, or by its name.
Result<analysis::Question> question_on(Context& context, analysis::Scenario scenario,
                                       const std::optional<formats::TraceNetwork>& trace,
                                       const std::optional<formats::LayerTable>& table) {
    if (trace) {
        return analysis::resolve(scenario, {trace->network, {}}, folders_of(context));
    }
    if (!table) {
        return analysis::resolve(scenario, folders_of(context));
    }
    if (scenario.library.empty()) {
        auto library = formats::library_of(*table, scenario.network);
        if (!library) {
            return library.diagnostics();
        }
        scenario.library = *std::move(library);
    }
    return analysis::resolve(scenario, {formats::network_of(*table, scenario.network), {}},
                             folders_of(context));
}

// Reports on stderr the layers whose searches ended before their proof; false where there are none.
bool report_open(Context& context, const ExamOptions& options, const analysis::Report& report) {
    const analysis::OpenSearches open = analysis::open_searches(report);
    if (open.layers.empty()) {
        return false;
    }
    Diagnostics said;
    const std::string what = analysis::open_searches_text(report, open);
    const std::string hint = analysis::open_searches_hint(open);
    options.require_proof ? said.error("not-proved", what, hint)
                          : said.warning("not-proved", what, hint);
    context.report(said);
    return true;
}

// The logs of --tuned, merged. Errors: those of the logs.
Result<std::vector<analysis::tune::TrialLine>> load_tuned(Context& context,
                                                          const std::vector<std::string>& files) {
    std::vector<std::vector<analysis::tune::TrialLine>> logs;
    Diagnostics found;
    for (const std::string& file : files) {
        auto log = analysis::tune::load_trials(file);
        found.append(log.diagnostics());
        if (log) {
            logs.push_back(*std::move(log));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    context.report(found);
    return analysis::tune::merged(logs);
}

// Parts of the output beside the report itself.
struct Extras {
    std::optional<analysis::WhatHelps> advice;
    std::optional<std::vector<analysis::tune::MeasuredBest>> tuned;
    std::string command;
    std::optional<analysis::Traced> traced; // of a trace on the GPU that it was taken on
    std::optional<analysis::Ranks> ranks;   // of several traces
    std::optional<formats::LayerTable> table;
};

std::string text_of(Context& context, const ExamOptions& options, const analysis::Report& report,
                    const report::ExamParts& parts) {
    const auto ladders = options.steps == "all"     ? report::Ladders::all
                         : options.steps == "worst" ? report::Ladders::worst
                                                    : report::Ladders::automatic;
    const std::string& file = options.output.file;
    const std::size_t columns = context.columns(file);
    std::string text;
    if (parts.traced != nullptr) {
        for (const std::string& note : parts.traced->notes) { // first: what the answer is not of
            text += "note: " + note + "\n";
        }
    }
    text += report::to_text(report, {context.colour(file), ladders, options.details, columns});
    if (parts.traced != nullptr) {
        text += "\n" + wrapped(report::traced_sentence(*parts.traced), 0, columns);
    }
    text += report::tables_text(report::trace_tables(parts), columns);
    text += report::tables_text(report::asked_tables(parts), columns);
    return text + (report::has_no_advice(parts) ? "\n" + std::string(report::kNoAdvice) + "\n"
                                                : std::string());
}

bool write_report(Context& context, const ExamOptions& options, const analysis::Question& question,
                  const analysis::Report& report, const Extras& more, const TextSink& sink) {
    const std::string& format = options.output.format;
    report::ExamParts parts;
    parts.input = more.table ? &*more.table : nullptr;
    parts.advice = more.advice ? &*more.advice : nullptr;
    parts.tuned = more.tuned ? &*more.tuned : nullptr;
    parts.traced = more.traced ? &*more.traced : nullptr;
    parts.ranks = more.ranks ? &*more.ranks : nullptr;
    if (format == "text") {
        return sink(text_of(context, options, report, parts));
    }
    const report::Answer answer = report::exam_answer(report, parts);
    if (format == "json") {
        return report::write_json(answer, sink);
    }
    if (format == "csv") {
        return report::write_csv(answer, sink);
    }
    return sink(
        with_origin(format == "md" ? report::to_markdown(answer) : report::exam_page(answer, parts),
                    format, more.command, {question.machine}));
}

Exit judged(Context& context, const ExamOptions& options, const FailIf& fail_if,
            const analysis::Question& question, const analysis::Report& report,
            const Extras& more) {
    analysis::Verdict verdict;
    if (fail_if.gate()) {
        const auto judged = analysis::evaluate(*fail_if.gate(), report);
        if (!judged) {
            return context.fail(judged.diagnostics());
        }
        verdict = *judged;
    }
    const bool unproved = report_open(context, options, report) && options.require_proof;
    const bool no = verdict.holds || unproved;
    const Exit exit = context.write(
        [&](const TextSink& sink) {
            return write_report(context, options, question, report, more, sink);
        },
        options.output.file, no ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no && verdict.holds) {
        fail_if.tell(context, verdict);
    }
    return exit;
}

// Options that exclude each other, with the fix.
std::optional<std::pair<std::string, std::string>>
contradiction(const ExamOptions& options, const analysis::Scenario& scenario) {
    const std::string& format = options.output.format;
    if (options.advice && format == "csv") {
        return {{"--advice has no rows of CSV", "take text, json, md, or html"}};
    }
    if (options.advice && !scenario.density.empty()) {
        return {
            {"--advice does not count zeros: leave --density out", "ask one of them at a time"}};
    }
    if (!options.tuned.empty() && (format == "csv" || !options.compat.empty())) {
        return {{"--tuned has no rows of CSV and none of --compat",
                 "take text, json, md, or html, without --compat"}};
    }
    if (options.chip.given() && options.cores.given()) {
        return {{"--chip and --cores are questions of their own", "ask one of them at a time"}};
    }
    if (!options.ranks.empty() && (options.scenario.machines.size() > 1 || options.chip.given() ||
                                   options.cores.given() || format == "csv" || format == "md")) {
        return {{"traces of several ranks are compared on their own GPU, as text, json or html",
                 "name one --on, or none, and no --chip or --cores"}};
    }
    return std::nullopt;
}

// All traces that --ranks and the folder name, the examined one among them.
Result<analysis::Ranks> compared_ranks(Context& context, const ExamOptions& options) {
    std::vector<profiles::Profile> read;
    Diagnostics found;
    for (const std::string& file : options.ranks) {
        auto profile = profiles::import_file(file);
        found.append(profile.diagnostics());
        if (profile) {
            read.push_back(*std::move(profile));
        }
    }
    if (found.has_errors()) {
        return found;
    }
    context.report(found);
    return analysis::ranks_of(read);
}

// Of a folder the traces in it, by name; of several files these. The first is examined.
Diagnostics take_ranks(const Context& context, ExamOptions& options) {
    auto& network = options.scenario.values["network"].texts;
    std::error_code error;
    Diagnostics found;
    if (network.empty()) {
        return found;
    }
    std::vector<std::string> files = {network.front()};
    if (std::filesystem::is_directory(network.front(), error)) {
        files.clear();
        for (const auto& entry : std::filesystem::directory_iterator(network.front(), error)) {
            if (formats::is_trace_file(entry.path())) {
                files.push_back(entry.path().string());
            }
        }
        std::ranges::sort(files);
        if (files.empty()) {
            found.error("no-trace", "the directory " + network.front() + " has no trace",
                        "name a directory with the traces of all ranks, one file each");
            return found;
        }
    }
    files.insert(files.end(), options.ranks.begin(), options.ranks.end());
    for (const std::string& file : options.ranks) {
        if (!std::filesystem::exists(file, error)) {
            found.error("usage", fmt::format("unexpected argument '{}'", file),
                        is_machine(context, file)
                            ? fmt::format("--on {} names the machine", file)
                            : "name one network; only traces of further ranks may follow it");
        } else if (!formats::is_trace_file(file)) {
            found.error("not-a-trace", file + " is not a PyTorch profiler trace",
                        "name one network; only traces of further ranks may follow it");
        }
    }
    network.front() = files.front();
    options.ranks = files.size() > 1 ? files : std::vector<std::string>{};
    return found;
}

// The report, with measurements and chip figures laid over it.
Result<analysis::Report> examined(Context& context, const analysis::Question& question,
                                  const std::optional<analysis::SparseLevels>& levels,
                                  const Measurements& measured) {
    auto report = question.scenario.density.empty()
                      ? analysis::run(question, context.stop(), context.progress())
                      : run_with_density(context, question, levels);
    if (!report) {
        return report;
    }
    context.report(report.diagnostics());
    add_chip_figures(context, question.machine, *report);
    analysis::find_largest_batch(*report, question, context.stop());
    context.report(analysis::fit_warning(*report));
    if (question.scenario.density.empty()) {
        analysis::find_headline(*report, question, context.stop());
    }
    const auto laid = lay_over(*report, question.machine, measured);
    if (!laid) {
        return laid.diagnostics();
    }
    context.report(laid.diagnostics());
    return report;
}

Exit exam_one(Context& context, const ExamOptions& options, const FailIf& fail_if,
              const analysis::Scenario& scenario,
              const std::optional<analysis::SparseLevels>& levels, const std::string& command) {
    const auto trace = trace_of(scenario); // read once: it may be large
    const bool traced = trace && *trace && scenario.sizes.empty();
    auto table = table_of(scenario, options.output.format);
    analysis::Scenario dense = scenario;
    dense.machine = levels ? levels->reference : scenario.machine;
    const auto question = question_on(context, dense, traced ? *trace : std::nullopt, *table);
    auto measured = load_measurements(context, options.measured);
    auto lines = load_tuned(context, options.tuned);
    Diagnostics all = table.diagnostics();
    all.append(question.diagnostics());
    all.append(measured.diagnostics());
    all.append(lines.diagnostics());
    if (traced) {
        all.append(trace.diagnostics());
        all.append(model::uncosted_warning((*trace)->network, scenario.network));
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    const bool own = traced && is_its_own(context, **trace, scenario);
    if (own && measured->profiles.empty()) {
        measured->profiles.push_back((*trace)->profile);
    }
    auto report = examined(context, *question, levels, *measured);
    if (!report) {
        return context.fail(report.diagnostics());
    }
    report->scenario = scenario;
    if (options.chip.given()) {
        return exam_chip(context, options, *question, *report);
    }
    Extras more{{}, {}, command, {}, {}, *std::move(table)};
    if (!options.ranks.empty()) {
        auto ranks = compared_ranks(context, options);
        if (!ranks) {
            return context.fail(ranks.diagnostics());
        }
        more.ranks = *std::move(ranks);
    }
    if (own) {
        auto said = analysis::traced(**trace, &question->machine, &*report);
        if (!said) {
            return context.fail(said.diagnostics());
        }
        more.traced = *std::move(said);
        report->traced = analysis::traced_step(*more.traced);
    }
    if (options.advice) {
        auto found = analysis::what_helps(*question, context.stop(), context.progress());
        if (!found) {
            return context.fail(found.diagnostics());
        }
        more.advice = *std::move(found);
    }
    if (!options.tuned.empty()) {
        auto rows = analysis::tune::measured_best(*report, *lines);
        context.report(rows.diagnostics());
        more.tuned = *std::move(rows);
    }
    return judged(context, options, fail_if, *question, *report, more);
}

Exit exam(Context& context, ExamOptions& options, const std::string& command) {
    const auto fail_if = FailIf::parse(options.fail_if, analysis::exam_gate_keys());
    if (const auto wrong = take_ranks(context, options); wrong.has_errors()) {
        return context.fail(wrong);
    }
    if (!options.measured.profiles.empty() && !options.scenario.given("on")) {
        const auto& profile = options.measured.profiles.front();
        if (auto gpu = formats::gpu_of_trace(profile, context.machine_dirs())) {
            options.scenario.usual.machine = *std::move(gpu); // that it was taken on
        }
    }
    const auto scenario = scenario_of(context, options.scenario);
    Diagnostics wrong = fail_if.diagnostics();
    wrong.append(scenario ? missing(options.scenario, *scenario) : scenario.diagnostics());
    if (wrong.has_errors()) {
        return context.fail(wrong);
    }
    if (const auto no = contradiction(options, *scenario)) {
        return context.fail_usage(no->first, no->second);
    }
    if (options.scenario.machines.size() > 1) {
        return exam_side_by_side(context, options, *scenario, command);
    }
    if (options.compat == "scalesim") {
        return exam_scalesim(context, options, *scenario);
    }
    if (options.cores.given() || is_package(context, scenario->machine)) {
        return exam_cores(context, options, *scenario);
    }
    std::optional<analysis::SparseLevels> levels;
    if (const auto exit = exam_zeros(context, options, *scenario, levels)) {
        return *exit;
    }
    return exam_one(context, options, *fail_if, *scenario, levels, command);
}

} // namespace

void add_exam(Frame& frame) {
    auto options = std::make_shared<ExamOptions>();
    CLI::App& app = frame.add("exam", "Examine a network on a machine: seven steps, layer by layer",
                              kExamExamples);
    add_scenario(app, options->scenario, {{}, true});
    app.add_option("RANKS", options->ranks,
                   "Traces of further ranks of the same run: imbalance, and who waits for whom; "
                   "or name a folder with the traces of all ranks as NETWORK")
        ->type_name("FILE");
    add_measurement_options(app, options->measured);
    app.add_option("--tuned", options->tuned,
                   "Log of `eyeroof tune`, whose best is shown beside the prediction (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);
    add_choice(app, "--compat", options->compat, {"scalesim"},
               "Count compute cycles as SCALE-Sim does, and show the difference");
    app.add_flag("--require-proof", options->require_proof,
                 "Exit 1 when a searched mapping is not proven optimal");
    add_fail_if(app, options->fail_if);
    add_choice(app, "--steps", options->steps, {"auto", "all", "worst"},
               "Layers whose seven steps are shown: all, or those with the largest savings (text) "
               "[auto: up to two layers]");
    app.add_flag("--details", options->details, "Add reasons, mappings, and traffic (text)");
    app.add_flag("--advice", options->advice,
                 "Add what would help: larger parameters and ideal steps on accelerators; padding, "
                 "batch, wave-filling sizes, and fusion on GPUs");
    add_cores_options(app, options->cores);
    add_chip_options(app, options->chip);
    add_output(app, options->output, {"text", "json", "csv", "md", "html"});
    frame.run(app, [options, &app](Context& context) {
        return exam(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
