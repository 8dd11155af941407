// eyeroof diff: what is different between two exams.
#include "study/diff/diff.hpp"

#include "cli/exam_options.hpp"
#include "cli/origin.hpp"
#include "hwdb/text_file.hpp"
#include "model/base/suggest.hpp"
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
    "# what a change of the network costs, as a gate of a build\n"
    "eyeroof diff before.json after.json --fail-if 'net.time_change > 0.02'";

struct DiffOptions {
    std::string a, b, fail_if;
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

Exit diff(Context& context, const DiffOptions& options, const std::string& command) {
    std::optional<study::Gate> gate;
    if (!options.fail_if.empty()) {
        auto parsed = study::parse_gate(options.fail_if, study::diff_gate_keys());
        if (!parsed) {
            context.report(parsed.diagnostics());
            return Exit::usage;
        }
        gate = *std::move(parsed);
    }
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
    study::Verdict verdict;
    if (gate) {
        auto judged = study::evaluate(*gate, study::diff_gate_figures(*found));
        if (!judged) {
            return context.fail(judged.diagnostics());
        }
        verdict = *std::move(judged);
    }
    const std::string& format = options.output.format;
    const Exit exit =
        context.write(format == "json"  ? study::diff_json(*found)
                      : format == "csv" ? study::diff_csv(*found)
                      : format == "md"  ? with_origin(study::diff_markdown(*found), format, command,
                                                      machines_of(context, options))
                                        : study::diff_text(*found),
                      options.output.file, verdict.holds ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no) {
        model::Diagnostics because;
        because.error("fail-if", fmt::format("{} holds: {}", options.fail_if,
                                             fmt::join(verdict.because, ", ")));
        context.report(because);
    }
    return exit;
}

} // namespace

void add_diff(Frame& frame) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App& app =
        frame.add("diff", "Two exams step by step: what is different, and where does it come from?",
                  kDiffExamples);
    const char* what = "What `exam --format json` wrote, or NETWORK@MACHINE and options behind it, "
                       "each after another @: batch, dtype, dataflow, mapping, layers, launch, "
                       "operators, phase, or a parameter of the machine as --set takes it";
    app.add_option("A", options->a, what)->required()->type_name("FILE|EXAM");
    app.add_option("B", options->b, "What it is compared with")->required()->type_name("FILE|EXAM");
    app.add_option("--fail-if", options->fail_if,
                   "Exit with 1 when this holds: 'net.time_change > 0.05', "
                   "'any.utilization_change < -0.1'")
        ->type_name("CONDITION");
    add_output(app, options->output, {"text", "json", "csv", "md"});
    frame.run(app, [options, &app](Context& context) {
        return diff(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
