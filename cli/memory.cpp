// eyeroof memory: what a step holds over time, what holds its peak, the largest batch.
#include "analysis/exam/run.hpp"
#include "analysis/program/costs.hpp"
#include "analysis/program/lower.hpp"
#include "base/units.hpp"
#include "cli/scenario_options.hpp"
#include "report/page/table_page.hpp"
#include "report/step/memory_write.hpp"

namespace eyeroof::cli {

namespace {

namespace step = analysis::step;

struct MemoryOptions {
    ScenarioOptions scenario;
    std::string memory;
    bool no_workspace = false;
    OutputOptions output;
};

std::string rendered(const report::MemoryReport& report, const std::string& format) {
    if (format == "html") {
        return report::to_page({"Where memory goes", report::memory_text(report),
                                report::memory_csv(report), report::memory_svg(report), ""});
    }
    return format == "json"  ? report::memory_json(report)
           : format == "csv" ? report::memory_csv(report)
           : format == "svg" ? report::memory_svg(report)
                             : report::memory_text(report);
}

Exit memory(Context& context, MemoryOptions& options) {
    const auto limit = memory_limit(options.memory);
    const auto question = question_of(context, options.scenario);
    Diagnostics all = limit.diagnostics();
    all.append(question.diagnostics());
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    const auto* gpu = std::get_if<model::Gpu>(&question->machine.kind);
    if (gpu == nullptr) {
        all.error("not-a-gpu", "a step's memory is predicted for GPUs and host processors",
                  "`eyeroof hw list` names them");
        return context.fail(all);
    }
    analysis::Report report;
    analysis::describe(*question, report);
    auto graph = analysis::lower(*question);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    // What the device cannot compute has no step, and no memory of one.
    if (const auto costs = step::costs_of(*graph, *gpu, analysis::software_of(*question)); !costs) {
        return context.fail(costs.diagnostics());
    }
    report.program = *std::move(graph);
    report.memory = analysis::memory_of(
        *question, report.program,
        options.no_workspace
            ? std::vector<Count>{}
            : step::workspaces_of(report.program, *gpu, analysis::software_of(*question)));
    const Count bytes = limit->value_or(step::capacity_of(*gpu));
    const report::MemoryReport found{report, bytes,
                                     analysis::largest_batch(*question, bytes, context.stop())};
    return context.write(rendered(found, options.output.format), options.output.file,
                         found.fits() ? Exit::done : Exit::says_no);
}

} // namespace

void add_memory(Frame& frame) {
    auto options = std::make_shared<MemoryOptions>();
    CLI::App& app = frame.add(
        "memory", "Show a step's memory over time: its peak, what holds it, the largest batch",
        "# does a training step fit, and what holds its peak?\n"
        "eyeroof memory bert-large --on a100-sxm-40gb --phase training --optimizer adam "
        "--dim dropout=1\n"
        "# in 24 GB; exit 1 when it does not fit\n"
        "eyeroof memory llama-3.2-1b --on rtx-4090 --phase training --memory 24GB\n"
        "# the curve as a picture\n"
        "eyeroof memory resnet50 --batch 64 --on v100-sxm2-16gb --phase training --format svg "
        "-o memory.svg");
    add_scenario(app, options->scenario);
    app.add_option("--memory", options->memory,
                   "Bytes for tensors [the machine's, less 0.5 GB for a process]")
        ->type_name("SIZE");
    app.add_flag("--no-workspace", options->no_workspace,
                 "Leave out what convolutions need beside their tensors");
    add_output(app, options->output, {"text", "json", "csv", "svg", "html"});
    frame.run(app, [options](Context& context) { return memory(context, *options); });
}

} // namespace eyeroof::cli
