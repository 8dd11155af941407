// eyeroof diff: what is different between two exams, or between two measured runs.
#include "study/diff/diff.hpp"

#include "cli/exam_options.hpp"
#include "cli/origin.hpp"
#include "hwdb/text_file.hpp"
#include "model/base/suggest.hpp"
#include "profiles/import/importer.hpp"
#include "study/diff/run_diff.hpp"
#include "study/report/json.hpp"
#include "study/sweep/fields.hpp"
#include "study/upgrade/surroundings.hpp"
#include "study/what_if/knobs.hpp"

#include <fmt/format.h>

namespace eyeroof::cli {

namespace {

constexpr const char* kDiffExamples =
    "# one network on two machines\n"
    "eyeroof diff resnet50@v100-sxm2-16gb resnet50@a100-sxm-40gb\n"
    "# two batches; twice the bandwidth\n"
    "eyeroof diff alexnet@eyeriss-v1@batch=1 alexnet@eyeriss-v1@batch=4\n"
    "eyeroof diff alexnet@npu-int8 alexnet@npu-int8@dram-link-bandwidth=x2 --format md\n"
    "# a mapping by rules and one that was searched\n"
    "eyeroof diff alexnet@eyeriss-v1@layers=CONV3 alexnet@eyeriss-v1@layers=CONV3@mapping=best\n"
    "# two measured runs: profiles, or traces in any format that import reads\n"
    "eyeroof diff monday.jsonl friday.jsonl --by operator\n"
    "# what a change of the network costs, as a gate of a build\n"
    "eyeroof diff before.json after.json --fail-if 'net.time_change > 0.02'";

struct DiffOptions {
    std::string a, b, fail_if;
    std::string by = "kernel";
    bool by_given = false;
    OutputOptions output;
};

using Text = model::Result<std::string>;

// "NETWORK@MACHINE@KEY=VALUE…" in its parts.
std::vector<std::string> parts_of(const std::string& reference) {
    std::vector<std::string> parts = {""};
    for (const char c : reference) {
        if (c == '@') {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

// Options of an exam, then parameters of the machine.
model::Diagnostics take(const std::string& text, study::StudyOptions& options,
                        std::vector<std::string>& changes) {
    model::Diagnostics found;
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (key == "layers") {
        options.layers = value;
        return found;
    }
    for (const study::SweptOption& option : study::swept_options()) {
        if (option.name == key) {
            if (!option.set(options, value)) {
                found.error("bad-value", fmt::format("'{}' is no {}", value, key),
                            option.words.empty() ? "a whole number from 1 on"
                                                 : model::suggestion(value, option.words));
            }
            return found;
        }
    }
    changes.push_back(text);
    return found;
}

Text exam_of(Context& context, const std::string& reference) {
    const std::vector<std::string> parts = parts_of(reference);
    const auto network = load_workload(context, parts[0]);
    auto machine = load_machine(context, parts[1]);
    model::Diagnostics all = network.diagnostics();
    all.append(machine.diagnostics());
    study::StudyOptions options;
    std::vector<std::string> changes;
    for (std::size_t i = 2; i < parts.size(); ++i) {
        all.append(take(parts[i], options, changes));
    }
    if (all.has_errors()) {
        return Text(std::move(all));
    }
    if (!changes.empty()) {
        machine = study::changed(*machine, changes);
    }
    const auto host = machine ? study::host_issue("", *machine, context.machine_dirs())
                              : model::Result<model::HostIssue>(machine.diagnostics());
    if (!host) {
        return Text(host.diagnostics());
    }
    options.host = *host;
    const auto report = study::run(*network, *machine, options, context.stop(), context.progress());
    return report ? Text(study::to_json(*report)) : Text(report.diagnostics());
}

Text side(Context& context, const std::string& reference) {
    return parts_of(reference).size() >= 2 ? exam_of(context, reference)
                                           : hwdb::read_text_file(reference);
}

// Of the sides that are examined here; a file tells of its own machine.
std::vector<model::Machine> machines_of(Context& context, const DiffOptions& options) {
    std::vector<model::Machine> machines;
    for (const std::string& reference : {options.a, options.b}) {
        const std::vector<std::string> parts = parts_of(reference);
        auto machine = parts.size() >= 2 ? load_machine(context, parts[1])
                                         : model::Result<model::Machine>(model::Diagnostics{});
        if (machine) {
            machines.push_back(*std::move(machine));
        }
    }
    return machines;
}

// Writes the text; exit code 1 where the gate's condition holds of the figures.
Exit write(Context& context, const DiffOptions& options, const study::GateKeys& keys,
           const std::function<study::GateFigures()>& figures, const std::string& text) {
    study::Verdict verdict;
    if (!options.fail_if.empty()) {
        const auto gate = study::parse_gate(options.fail_if, keys);
        if (!gate) {
            context.report(gate.diagnostics());
            return Exit::usage;
        }
        auto judged = study::evaluate(*gate, figures());
        if (!judged) {
            return context.fail(judged.diagnostics());
        }
        verdict = *std::move(judged);
    }
    const Exit exit =
        context.write(text, options.output.file, verdict.holds ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no) {
        model::Diagnostics because;
        because.error("fail-if", fmt::format("{} holds: {}", options.fail_if,
                                             fmt::join(verdict.because, ", ")));
        context.report(because);
    }
    return exit;
}

Exit diff_exams(Context& context, const DiffOptions& options, const std::string& command) {
    const Text a = side(context, options.a);
    const Text b = side(context, options.b);
    model::Diagnostics all = a.diagnostics();
    all.append(b.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const auto found = study::diff_exams(*a, options.a, *b, options.b);
    if (!found) {
        return context.fail(found.diagnostics());
    }
    const std::string& format = options.output.format;
    const std::string text = format == "json"   ? study::diff_json(*found)
                             : format == "csv"  ? study::diff_csv(*found)
                             : format == "md"   ? study::diff_markdown(*found)
                             : format == "html" ? study::diff_html(*found)
                                                : study::diff_text(*found);
    return write(
        context, options, study::diff_gate_keys(), [&] { return study::diff_gate_figures(*found); },
        with_origin(text, format, command, machines_of(context, options)));
}

study::RunPart part_of(const std::string& name) {
    for (const auto& [known, part] : study::kRunParts) {
        if (known == name) {
            return part;
        }
    }
    return study::RunPart::kernel;
}

Exit diff_runs(Context& context, const DiffOptions& options, const std::string& command) {
    const auto a = profiles::import_file(options.a);
    const auto b = profiles::import_file(options.b);
    model::Diagnostics all = a.diagnostics();
    all.append(b.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all); // warnings of the readers
    const study::RunDiff found =
        study::diff_runs(*a, options.a, *b, options.b, part_of(options.by));
    const std::string& format = options.output.format;
    const std::string text = format == "json"   ? study::run_diff_json(found)
                             : format == "csv"  ? study::run_diff_csv(found)
                             : format == "md"   ? study::run_diff_markdown(found)
                             : format == "html" ? study::run_diff_html(found)
                                                : study::run_diff_text(found);
    return write(
        context, options, study::run_gate_keys(), [&] { return study::run_gate_figures(found); },
        with_origin(text, format, command, {}));
}

// Is a side a file of measured launches?
bool measured(const std::string& reference) {
    return parts_of(reference).size() < 2 && !profiles::format_of_file(reference).empty();
}

Exit diff(Context& context, const DiffOptions& options, const std::string& command) {
    const bool run_a = measured(options.a);
    const bool run_b = measured(options.b);
    if (run_a != run_b) {
        return context.fail_usage(
            fmt::format("{} holds measured launches, {} is an exam", run_a ? options.a : options.b,
                        run_a ? options.b : options.a),
            "compare two runs, or two exams; `exam --profile FILE` lays a run over an exam");
    }
    if (options.by_given && !run_a) {
        return context.fail_usage("--by is for two measured runs", "exams are told by layer");
    }
    return run_a ? diff_runs(context, options, command) : diff_exams(context, options, command);
}

} // namespace

void add_diff(Frame& frame) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App& app = frame.add(
        "diff", "Two exams or two measured runs: what is different, and where does it come from?",
        kDiffExamples);
    const char* what = "What `exam --format json` wrote, or NETWORK@MACHINE and options behind it, "
                       "each after another @: batch, dtype, dataflow, mapping, layers, launch, "
                       "operators, phase, or a parameter of the machine as --set takes it; or a "
                       "measured run, in any format that import reads";
    app.add_option("A", options->a, what)->required()->type_name("FILE|EXAM");
    app.add_option("B", options->b, "What it is compared with")->required()->type_name("FILE|EXAM");
    app.add_option("--fail-if", options->fail_if,
                   "Exit with 1 when this holds: 'net.time_change > 0.05', "
                   "'any.utilization_change < -0.1'")
        ->type_name("CONDITION");
    add_choice(app, "--by", options->by, {"kernel", "operator", "range"},
               "Two runs: what launches belong together by; names of kernels differ between GPUs "
               "and libraries, those of operators and ranges do not");
    add_output(app, options->output, {"text", "json", "csv", "md", "html"});
    frame.run(app, [options, &app](Context& context) {
        options->by_given = app.count("--by") > 0;
        return diff(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
