// eyeroof import: other tools' measurements into one profile; merged, filtered, summed up.
#include "analysis/exam/run.hpp"
#include "analysis/measured/lay_profile.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/program/lower.hpp"
#include "base/csv.hpp"
#include "base/lines.hpp"
#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "cli/measurements.hpp"
#include "cli/scenario_options.hpp"
#include "formats/trace_gpu.hpp"
#include "profiles/import/importer.hpp"
#include "profiles/library_log.hpp"
#include "profiles/profile_file.hpp"
#include "report/answer/write.hpp"
#include "report/exam/traced_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

struct ImportOptions {
    std::vector<std::string> files;
    std::string from;
    profiles::KernelFilter filter;
    std::string save;
    bool join = false;
    std::string network; // of --match
    ScenarioOptions scenario;
    std::string assignments;
    std::string log;
    OutputOptions output;
};

std::vector<std::string> format_names() {
    std::vector<std::string> names;
    for (const profiles::Importer* importer : profiles::importers()) {
        names.emplace_back(importer->name());
    }
    return names;
}

// The shapes of a library's own log, given to the kernels in order.
Result<profiles::Profile> with_log(const profiles::Profile& profile, const std::string& file,
                                   Diagnostics& found) {
    auto source = profiles::ByteSource::open(file);
    if (!source) {
        return Result<profiles::Profile>(source.diagnostics());
    }
    const auto calls = profiles::read_library_log(**source);
    if (!calls) {
        return Result<profiles::Profile>(calls.diagnostics());
    }
    found.append(calls.diagnostics());
    return profiles::give_logged_calls(profile, *calls);
}

Result<profiles::Profile> read_all(const ImportOptions& options, const ProgressCallback& progress) {
    std::vector<profiles::Profile> read;
    Diagnostics found;
    for (const std::string& file : options.files) {
        auto profile = profiles::import_file(file, options.from, progress);
        found.append(profile.diagnostics());
        if (profile) {
            read.push_back(std::move(*profile));
        }
    }
    if (found.has_errors()) {
        return Result<profiles::Profile>(std::move(found));
    }
    auto all = options.join ? profiles::join_runs(read.at(0), read.at(1))
                            : profiles::merge(std::move(read));
    if (!all) {
        return all;
    }
    found.append(all.diagnostics());
    if (!options.log.empty()) {
        all = with_log(*all, options.log, found);
        if (!all) {
            return all;
        }
    }
    auto kept = profiles::filter(std::move(*all), options.filter);
    found.append(kept.diagnostics());
    return kept ? Result<profiles::Profile>(std::move(*kept), std::move(found)) : kept;
}

// Cut with an ellipsis, and no blanks behind.
std::string last_cell(const std::string& text, std::size_t width) {
    const std::string plain = masked_controls(text);
    return display_width(plain) <= width ? plain : left(plain, width);
}

// "void at::native::(anonymous namespace)::copy<…>" without what all names begin with.
std::string shown_name(std::string name) {
    for (const std::string_view part : {"void ", "at::native::", "(anonymous namespace)::"}) {
        if (name.starts_with(part)) {
            name.erase(0, part.size());
        }
    }
    return name;
}

constexpr std::size_t kFigures = 55; // columns of a row before the kernel's name

std::string summary_text(const profiles::Profile& profile, std::size_t columns) {
    constexpr std::size_t kRows = 20;
    const auto sums = profiles::summarise(profile);
    std::string text =
        fmt::format("{} launch{} of {}", profile.launch_count(),
                    profile.launch_count() == 1 ? "" : "es", counted(sums.size(), "kernel"));
    text += profile.run.gpu.empty() ? "\n" : " on " + profile.run.gpu + "\n";
    for (const std::string& fact : analysis::facts_of(profile.run)) {
        text += "  " + fact + "\n";
    }
    for (const profiles::Ceiling& ceiling : profile.ceilings) {
        const std::string_view unit = !ceiling.level.empty() ? "B/s"
                                      : !ceiling.precision.empty()
                                          ? operation_rate_unit(ceiling.precision)
                                          : "s";
        text += fmt::format("  ceiling {}: {}\n", ceiling.name, format_si(ceiling.value, unit));
    }
    for (const std::string& note : profile.notes) {
        text += "note: " + note + "\n";
    }
    const auto untimed = std::ranges::count_if(
        profile.launches, [](const profiles::Launch& launch) { return launch.duration_ns < 0.0; });
    if (untimed > 0) {
        text += "note: " + counted(untimed, "launch record") + " without a time\n";
    }
    text += fmt::format("\n{:>6} {:>7} {:>6} {:>7} {:>7} {:>7} {:>7}  kernel\n", "share", "time",
                        "calls", "mean", "min", "max", "std");
    for (std::size_t i = 0; i < std::min(sums.size(), kRows); ++i) {
        const profiles::KernelSummary& sum = sums[i];
        const auto cell = [timed = sum.max_s > 0.0](double seconds) {
            return timed ? format_si(seconds, "s") : std::string("-");
        };
        text += fmt::format("{:>4.1f} % {:>7} {:>6} {:>7} {:>7} {:>7} {:>7}  {}\n",
                            100.0 * sum.share, cell(sum.time_s), sum.calls, cell(sum.mean_s),
                            cell(sum.min_s), cell(sum.max_s), cell(sum.deviation_s),
                            last_cell(shown_name(sum.name), columns - kFigures));
    }
    if (sums.size() > kRows) {
        text += fmt::format("        … and {} more\n", counted(sums.size() - kRows, "kernel"));
    }
    return text;
}

// Layers without a prediction, to lay a profile over.
Result<analysis::Report> bare_report(const model::Network& network) {
    analysis::Report report;
    report.network_name = network.name;
    for (const model::Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        if (!work) {
            return Result<analysis::Report>(work.diagnostics());
        }
        analysis::LayerReport row;
        row.layer = layer;
        row.macs = work->macs;
        row.flops = work->flops;
        report.layers.push_back(std::move(row));
    }
    return report;
}

// Counted operations over those of the shape, and what that means.
std::string check_text(const analysis::LayerReport& layer) {
    const analysis::LayerMeasurement& m = *layer.measured;
    if (m.work_check == profiles::WorkCheck::unknown) {
        return "not counted";
    }
    const double needed =
        layer.macs > 0 ? 2.0 * static_cast<double>(layer.macs) : static_cast<double>(layer.flops);
    return fmt::format("{:.2f} {}", *m.flops / needed, profiles::work_check_name(m.work_check));
}

// One line a layer: how its kernels were found, how sure that is at worst, and whether the counted
// operations are those of the shape.
std::string match_text(const analysis::Report& report, std::size_t unmatched) {
    std::string text =
        fmt::format("\n{:<24} {:>8} {:>10} {:>12}  {:<11} {:<5} {}\n", "layer", "launches",
                    "executions", "time each", "method", "conf.", "FLOP / 2MNK");
    for (const analysis::LayerReport& layer : report.layers) {
        if (!layer.measured) {
            text += fmt::format("{:<24} {:>8}\n", layer.layer.name, "none");
            continue;
        }
        const analysis::LayerMeasurement& m = *layer.measured;
        text += fmt::format("{:<24} {:>8} {:>10} {:>12}  {:<11} {:<5.2f} {}\n", layer.layer.name,
                            m.launches,
                            fmt::format("{}{}", m.executions, m.executions_assumed ? " ?" : ""),
                            format_si(m.kernel_s, "s"), profiles::match_method_name(m.method),
                            m.confidence, check_text(layer));
    }
    text += fmt::format("{:<24} {:>8} {:>10} {:>12}\n", "(no layer)", unmatched, "",
                        format_si(report.measured->unmatched_s, "s"));
    return text + fmt::format("{:.0f} % of the time belongs to layers\n",
                              100.0 * report.measured->matched_share);
}

Result<std::string> matched(Context& context, ImportOptions& options,
                            const profiles::Profile& profile) {
    using Text = Result<std::string>;
    auto scenario = scenario_of(context, options.scenario);
    const auto files = load_measurements(context, {{}, {}, options.assignments});
    Diagnostics found = scenario.diagnostics();
    found.append(files.diagnostics());
    if (found.has_errors()) {
        return Text(std::move(found));
    }
    scenario->network = options.network;
    auto network = analysis::load_workload(options.network, scenario->sizes, folders_of(context));
    if (!network) {
        return Text(network.diagnostics());
    }
    scenario->operators =
        scenario->operators.value_or(analysis::Operators::all); // as frameworks run
    scenario->allow_uncosted = true;                            // nothing is costed
    analysis::Question question;
    question.scenario = *scenario;
    question.network = std::move(network->network);
    question.edges = std::move(network->edges);
    const auto layers = analysis::lowered_network(question);
    if (!layers) {
        return Text(layers.diagnostics());
    }
    auto report = bare_report(*layers);
    if (!report) {
        return Text(report.diagnostics());
    }
    const auto laid =
        analysis::lay_profile(*report, profile, files->family_of(profile), files->assignments);
    return laid ? Text(match_text(*report, laid->unmatched.size()), laid.diagnostics())
                : Text(laid.diagnostics());
}

// Operators, idle time, and what to change: where the profile's operators say their work.
Result<std::string> trace_text(const Context& context, const profiles::Profile& profile,
                               std::size_t columns) {
    const bool timed = std::ranges::any_of(profile.launches, [](const profiles::Launch& launch) {
        return launch.start_ns != profiles::kNone && launch.calls == 1;
    });
    if (profile.operators.empty() && profile.copies.empty() && !timed) {
        return std::string(); // the copy for it may be large
    }
    constexpr std::size_t kMostOperators = 50'000; // of different names or shapes
    if (profile.operators.size() > kMostOperators) {
        return fmt::format(
            "\nno bounds: {} operators of different shapes, more than the {} that are "
            "compared with their bounds\n",
            profile.operators.size(), kMostOperators);
    }
    const auto trace = formats::timeline_of_trace(
        profile, profile.sources.empty() ? "trace" : profile.sources.front());
    const bool many = trace.network.layers.size() > formats::kMostTracedLayers;
    if (many || (trace.network.layers.empty() && !timed)) { // kernels alone
        return std::string();
    }
    const auto folders = context.machine_dirs();
    const auto name = formats::gpu_of_run(profile.run, folders);
    const auto machine =
        name ? load_machine(context, *name) : Result<model::Machine>(name.diagnostics());
    const auto said = analysis::traced(trace, machine ? &*machine : nullptr);
    if (!said) {
        return said.diagnostics();
    }
    std::string text =
        machine ? fmt::format("\nbounds are of {} ({})\n", machine->name, machine->id) : "";
    text += "\n" + wrapped(report::traced_sentence(*said), 0, columns);
    for (const std::string& note : said->notes) { // of other GPUs and steps, and what is missing
        text += wrapped(note, 0, columns);
    }
    return text + report::tables_text(report::traced_tables(*said), columns);
}

std::string summary_csv(const profiles::Profile& profile) {
    std::string text = "kernel,calls,time_s,share,mean_s,min_s,max_s,deviation_s\n";
    for (const auto& sum : profiles::summarise(profile)) {
        text += fmt::format("{},{},", csv_quoted(sum.name), sum.calls);
        text += sum.max_s > 0.0 ? fmt::format("{},{},{},{},{},{}\n", sum.time_s, sum.share,
                                              sum.mean_s, sum.min_s, sum.max_s, sum.deviation_s)
                                : ",,,,,\n"; // no launch of it is timed
    }
    return text;
}

// -o merged.jsonl means the profile, not its summary.
void take_profile_output(ImportOptions& options) {
    const std::string& file = options.output.file;
    const bool profile = file.ends_with(".jsonl") || file.ends_with(".jsonl.gz");
    if (profile && options.save.empty() && options.output.format == "text") {
        options.save = file;
        options.output.file.clear();
    }
}

Exit import(Context& context, ImportOptions options) {
    take_profile_output(options);
    if (options.join && options.files.size() != 2) {
        return context.fail_usage(
            "--join takes two files: the timed run, then the run with counters",
            "as in --join timed.json counted.csv");
    }
    const auto profile = read_all(options, context.progress(true));
    if (!profile) {
        return context.fail(profile.diagnostics());
    }
    context.report(profile.diagnostics());
    if (!options.save.empty()) {
        const auto written = profiles::write_profile(*profile, options.save);
        if (!written) {
            return context.fail(written.diagnostics());
        }
    }
    std::string layers;
    if (!options.network.empty()) {
        auto text = matched(context, options, *profile);
        if (!text) {
            return context.fail(text.diagnostics());
        }
        context.report(text.diagnostics());
        layers = std::move(*text);
    }
    if (options.output.format == "text" && layers.empty()) {
        auto operators = trace_text(context, *profile, context.columns(options.output.file));
        if (!operators) {
            return context.fail(operators.diagnostics());
        }
        layers = *std::move(operators);
    }
    const std::string text =
        options.output.format == "json" ? profiles::profile_text(*profile)
        : options.output.format == "csv"
            ? summary_csv(*profile)
            : summary_text(*profile, context.columns(options.output.file)) + layers;
    return context.write(text, options.output.file);
}

} // namespace

void add_import(Frame& frame) {
    auto options = std::make_shared<ImportOptions>();
    CLI::App& app =
        frame.add("import", "Read another tool's profile, and list the kernels that took the time",
                  "# a PyTorch trace, kept as a profile\n"
                  "eyeroof import trace.json.gz --save trace.jsonl\n"
                  "# times of one run, counters of another\n"
                  "eyeroof import times.sqlite counters.csv --join --save both.jsonl\n"
                  "# two profiles as one, of some kernels only, without profiling again\n"
                  "eyeroof import a.jsonl b.jsonl --kernel 'gemm|conv' -o merged.jsonl\n"
                  "# which kernels belong to which layer, shapes from cuBLAS's own log\n"
                  "eyeroof import run.jsonl --log cublas.log --match resnet50\n"
                  "# the first ten launches of one kernel\n"
                  "eyeroof import profile.jsonl --kernel gemm --count 10 --format csv");
    app.add_option("FILES", options->files, "Measurements; the format is recognized by content")
        ->required()
        ->type_name("FILE");
    add_choice(app, "--input-format", options->from, format_names(),
               "Format of the input, where the content does not identify it");
    app.add_option("--kernel", options->filter.name_regex, "Keep only kernels whose name matches")
        ->type_name("REGEX");
    app.add_option("--nvtx", options->filter.range,
                   "Keep launches in NVTX ranges that contain this text")
        ->type_name("TEXT");
    app.add_option("--match", options->network, "Match kernels to the layers of this network")
        ->type_name("NETWORK|FILE");
    add_scenario(app, options->scenario,
                 {{"on",           "set",        "energies", "host",     "host-speed",
                   "clocks",       "power-cap",  "library",  "layout",   "launch",
                   "streams",      "copies",     "pageable", "mapping",  "dataflow",
                   "objective",    "time-limit", "factors",  "counting", "constraints",
                   "search-nodes", "density",    "states",   "in-place", "compiled"},
                  false,
                  false});
    app.add_option("--assign", options->assignments,
                   "Manual assignments of kernels to layers (YAML)")
        ->type_name("FILE");
    app.add_option("--log", options->log,
                   "Take shapes from a cuBLAS, cuBLASLt, or cuDNN log of the same run")
        ->type_name("FILE");
    app.add_option("--skip", options->filter.skip, "Skip the first N that match")
        ->check(CLI::NonNegativeNumber);
    app.add_option("--count", options->filter.count, "Keep at most N")
        ->check(CLI::NonNegativeNumber);
    app.add_flag("--join", options->join, "Add counters of the second file to the first");
    app.add_option("--save", options->save, "Write the result as a profile (.jsonl, .gz)")
        ->type_name("FILE");
    add_output(app, options->output, {"text", "csv", "json"});
    frame.run(app, [options](Context& context) { return import(context, *options); });
}

} // namespace eyeroof::cli
