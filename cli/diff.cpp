// eyeroof diff: what is different between two exams, or between two measured runs.
#include "analysis/diff/diff.hpp"

#include "analysis/diff/run_diff.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/measured/traced.hpp"
#include "base/text_file.hpp"
#include "cli/answer.hpp"
#include "cli/origin.hpp"
#include "cli/scenario_options.hpp"
#include "formats/trace_network.hpp"
#include "profiles/import/importer.hpp"
#include "report/diff/diff_answer.hpp"

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
    "# one step of two traces, by operator and shape, whatever the GPUs call their kernels\n"
    "eyeroof diff h100.json.gz mi300x.json.gz\n"
    "# what a change of the network costs, as a gate of a build\n"
    "eyeroof diff before.json after.json --fail-if 'net.time_change > 0.02'";

struct DiffOptions {
    std::string a, b, fail_if;
    std::string by = "kernel";
    bool by_given = false;
    OutputOptions output;
};

using Side = Result<analysis::ExamSide>;

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

// A field of the scenario, or else a parameter of the machine.
Diagnostics take(const std::string& text, analysis::Scenario& scenario) {
    const std::size_t equals = text.find('=');
    const std::string key = text.substr(0, equals);
    const analysis::ScenarioField* field = analysis::find_field(key);
    if (field == nullptr || key == "network" || key == "on") {
        scenario.changes.push_back(text);
        return {};
    }
    const std::string value = equals == std::string::npos ? "1" : text.substr(equals + 1);
    std::vector<std::string> values = {value};
    if (field->kind == analysis::FieldKind::list) { // one more of them
        values = field->get(scenario);
        values.push_back(value);
    }
    return field->set(scenario, values);
}

Side exam_of(Context& context, const std::string& reference) {
    const std::vector<std::string> parts = parts_of(reference);
    analysis::Scenario scenario;
    scenario.network = parts[0];
    scenario.machine = parts[1];
    Diagnostics all;
    for (std::size_t i = 2; i < parts.size(); ++i) {
        all.append(take(parts[i], scenario));
    }
    const auto question = analysis::resolve(scenario, folders_of(context));
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return Side(std::move(all));
    }
    const auto report = analysis::run(*question, context.stop(), context.progress());
    return report ? Side(analysis::exam_side(*report)) : Side(report.diagnostics());
}

Side side(Context& context, const std::string& reference) {
    std::error_code status;
    if (parts_of(reference).size() >= 2) {
        return exam_of(context, reference);
    }
    if (!std::filesystem::exists(reference, status)) {
        return Side::failure("file-not-found", "there is no such file",
                             "a side is a JSON answer of `eyeroof exam`, or NETWORK@MACHINE",
                             {reference, 0, 0});
    }
    const auto text = read_text_file(reference);
    return text ? analysis::exam_side(*text, reference) : Side(text.diagnostics());
}

// Of the sides that are examined here; a file tells of its own machine.
std::vector<model::Machine> machines_of(Context& context, const DiffOptions& options) {
    std::vector<model::Machine> machines;
    for (const std::string& reference : {options.a, options.b}) {
        const std::vector<std::string> parts = parts_of(reference);
        if (parts.size() < 2) {
            continue;
        }
        if (auto machine = load_machine(context, parts[1])) {
            machines.push_back(*std::move(machine));
        }
    }
    return machines;
}

// Writes the answer; exit code 1 where the gate's condition holds of the figures.
Exit write(Context& context, const DiffOptions& options, const analysis::GateKeys& keys,
           const std::function<analysis::GateFigures()>& figures, const report::Answer& answer,
           const std::string& command, const std::vector<model::Machine>& machines) {
    analysis::Verdict verdict;
    if (!options.fail_if.empty()) {
        const auto gate = analysis::parse_gate(options.fail_if, keys);
        if (!gate) {
            context.report(gate.diagnostics());
            return Exit::usage;
        }
        auto judged = analysis::evaluate(*gate, figures());
        if (!judged) {
            return context.fail(judged.diagnostics());
        }
        verdict = *std::move(judged);
    }
    const Exit exit = write_answer(context, answer, options.output, command, machines,
                                   verdict.holds ? Exit::says_no : Exit::done);
    if (exit == Exit::says_no) {
        Diagnostics because;
        because.error("fail-if", fmt::format("{} holds: {}", options.fail_if,
                                             fmt::join(verdict.because, ", ")));
        context.report(because);
    }
    return exit;
}

Exit diff_exams(Context& context, const DiffOptions& options, const std::string& command) {
    const Side a = side(context, options.a);
    const Side b = side(context, options.b);
    Diagnostics all = a.diagnostics();
    all.append(b.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    const analysis::ExamDiff found = analysis::diff_exams(*a, *b);
    return write(
        context, options, analysis::diff_gate_keys(),
        [&] { return analysis::diff_gate_figures(found); }, report::diff_answer(found), command,
        machines_of(context, options));
}

analysis::RunPart part_of(const std::string& name) {
    for (const auto& [known, part] : analysis::kRunParts) {
        if (known == name) {
            return part;
        }
    }
    return analysis::RunPart::kernel;
}

// A measured run; by layers the step of a trace, each launch with its layer as the range.
Result<profiles::Profile> run_of(const std::string& file, analysis::RunPart by,
                                 analysis::PartCategories& categories) {
    if (by != analysis::RunPart::layer) {
        return profiles::import_file(file);
    }
    auto trace = formats::load_trace_network(file);
    for (std::size_t i = 0; trace && i < trace->network.layers.size(); ++i) {
        const model::Layer& layer = trace->network.layers[i];
        categories[layer.name] = analysis::traced_category(layer);
    }
    return trace ? Result<profiles::Profile>(std::move(trace->profile), trace.diagnostics())
                 : Result<profiles::Profile>(trace.diagnostics());
}

Exit diff_runs(Context& context, const DiffOptions& options, const std::string& command) {
    analysis::PartCategories categories;
    analysis::RunPart by = part_of(options.by);
    auto a = run_of(options.a, by, categories);
    auto b = run_of(options.b, by, categories);
    if (!options.by_given && by == analysis::RunPart::layer && !(a && b)) { // no operator is known
        by = analysis::RunPart::kernel;
        categories.clear();
        a = run_of(options.a, by, categories);
        b = run_of(options.b, by, categories);
    }
    Diagnostics all = a.diagnostics();
    all.append(b.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all); // warnings of the readers
    const analysis::RunDiff found =
        analysis::diff_runs(*a, options.a, *b, options.b, by, categories);
    return write(context, options, analysis::run_gate_keys(),
                 [&] { return analysis::run_gate_figures(found); }, report::run_diff_answer(found),
                 command, {});
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
        return context.fail_usage("--by is for two measured runs", "exams are compared by layer");
    }
    return run_a ? diff_runs(context, options, command) : diff_exams(context, options, command);
}

} // namespace

void add_diff(Frame& frame) {
    auto options = std::make_shared<DiffOptions>();
    CLI::App& app = frame.add(
        "diff", "Compare two exams or two measured runs, and say where the difference comes from",
        kDiffExamples);
    const char* what = "What `exam --format json` wrote, or NETWORK@MACHINE and options behind it, "
                       "each after another @: an option of exam by its name, such as batch=4 or "
                       "launch=graph, or a parameter of the machine as --set takes it; or a "
                       "measured run, in any format that import reads";
    app.add_option("A", options->a, what)->required()->type_name("FILE|EXAM");
    app.add_option("B", options->b, "What it is compared with")->required()->type_name("FILE|EXAM");
    app.add_option("--fail-if", options->fail_if,
                   "Exit 1 when this condition holds, such as 'net.time_change > 0.05' or "
                   "'any.utilization_change < -0.1'")
        ->type_name("CONDITION");
    add_choice(app, "--by", options->by, {"kernel", "operator", "range", "layer"},
               "How launches of two runs are matched: by kernel name, operator, NVTX range, or "
               "layer (operator and shape). Kernel names differ between GPUs and libraries [layer "
               "for two PyTorch traces, else kernel]");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options, &app](Context& context) {
        options->by_given = app.count("--by") > 0;
        if (!options->by_given && formats::is_network_trace(options->a) &&
            formats::is_network_trace(options->b)) {
            options->by = "layer";
        }
        return diff(context, *options, command_line(app));
    });
}

} // namespace eyeroof::cli
