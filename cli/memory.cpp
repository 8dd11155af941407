// eyeroof memory: what a step holds over time, what holds its peak, the largest batch.
#include "analysis/exam/gpu_step.hpp"
#include "analysis/exam/run.hpp"
#include "analysis/program/costs.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/step/streaming.hpp"
#include "base/units.hpp"
#include "cli/answer.hpp"
#include "cli/scenario_options.hpp"
#include "report/step/memory_answer.hpp"

namespace eyeroof::cli {

namespace {

namespace step = analysis::step;

struct MemoryOptions {
    ScenarioOptions scenario;
    std::string memory, stream, link;
    bool no_workspace = false;
    OutputOptions output;
};

// The link that is asked for, else the machine's.
Result<step::Link> link_of(const std::string& text, const model::Gpu& gpu) {
    step::Link link = step::pcie_of(gpu);
    if (text.empty()) {
        return link;
    }
    const auto rate = parse_quantity(text, "B/s", "a bandwidth");
    if (!rate || *rate < 1.0) {
        return Result<step::Link>::failure("usage", "--link " + text + " is not a bandwidth",
                                           "as in --link 25GB/s");
    }
    link.bytes_per_s = *rate;
    return link;
}

// Puts the memory of the step that streams in place of that which keeps everything.
Diagnostics add_stream(const MemoryOptions& options, const analysis::Question& question,
                       const model::Gpu& gpu, const step::Costs& costs, analysis::Report& report,
                       report::MemoryReport& found) {
    const auto link = link_of(options.link, gpu);
    if (!link) {
        return link.diagnostics();
    }
    const step::Operand operand =
        options.stream == "weights" ? step::Operand::weights : step::Operand::activations;
    Diagnostics refused =
        step::check_stream(operand, question.scenario.training.has_value(), *link);
    if (refused.has_errors()) {
        return refused;
    }
    const step::Timeline line =
        step::simulate(report.program, costs, gpu, analysis::timeline_options(question, gpu));
    found.streamed =
        step::stream(report.program, line, *report.memory, operand, *link, found.limit);
    found.operand = operand;
    found.link_bytes_per_s = link->bytes_per_s;
    report.memory = found.streamed.memory;
    return {};
}

Exit memory(Context& context, MemoryOptions& options) {
    const auto limit = memory_limit(options.memory);
    const auto question = question_of(context, options.scenario);
    Diagnostics all = limit.diagnostics();
    all.append(question.diagnostics());
    if (!options.link.empty() && options.stream.empty()) {
        all.error("usage", "--link is the way of what streams",
                  "as in --stream weights --link 25GB/s");
    }
    if (all.has_errors()) {
        return context.fail(all);
    }
    context.report(all);
    const auto* gpu = std::get_if<model::Gpu>(&question->machine.kind);
    if (gpu == nullptr) {
        all.error("not-a-gpu", "memory supports GPUs and host processors",
                  "`eyeroof exam --details` has the traffic and tiles of accelerators");
        return context.fail(all);
    }
    analysis::Report report;
    analysis::describe(*question, report);
    auto graph = analysis::lower(*question);
    if (!graph) {
        return context.fail(graph.diagnostics());
    }
    // What the device cannot compute has no step, and no memory of one.
    const auto costs = step::costs_of(*graph, *gpu, analysis::software_of(*question));
    if (!costs) {
        return context.fail(costs.diagnostics());
    }
    report.program = *std::move(graph);
    report.memory = analysis::memory_of(
        *question, report.program,
        options.no_workspace
            ? std::vector<Count>{}
            : step::workspaces_of(report.program, *gpu, analysis::software_of(*question)));
    const Count bytes = limit->value_or(step::capacity_of(*gpu));
    report::MemoryReport found{report, bytes, std::nullopt};
    if (options.stream.empty()) {
        found.largest_batch = analysis::largest_batch(*question, bytes, context.stop());
    } else if (const auto refused = add_stream(options, *question, *gpu, *costs, report, found);
               refused.has_errors()) {
        return context.fail(refused);
    }
    return write_answer(context, report::memory_answer(found), options.output,
                        found.fits() ? Exit::done : Exit::says_no);
}

} // namespace

void add_memory(Frame& frame) {
    auto options = std::make_shared<MemoryOptions>();
    CLI::App& app = frame.add(
        "memory",
        "Show memory over a step: its peak, what holds it, and the largest batch that fits",
        "# does a training step fit, and what holds its peak?\n"
        "eyeroof memory bert-large --on a100-sxm-40gb --phase training --optimizer adam "
        "--dim dropout=1\n"
        "# in 24 GB; exit 1 when it does not fit\n"
        "eyeroof memory llama-3.2-1b --on rtx-4090 --phase training --memory 24GB\n"
        "# what does not fit stays on the host and comes over PCIe, layer by layer\n"
        "eyeroof memory llama-2-7b:new=1,context=100 --on rtx-2080-ti --stream weights\n"
        "# the curve as a picture\n"
        "eyeroof memory resnet50 --batch 64 --on v100-sxm2-16gb --phase training --format svg "
        "-o memory.svg");
    add_scenario(app, options->scenario);
    app.add_option("--memory", options->memory,
                   "Memory for tensors [the machine's, less 0.5 GB for the process]")
        ->type_name("SIZE");
    app.add_flag("--no-workspace", options->no_workspace, "Exclude the workspace of convolutions");
    add_choice(app, "--stream", options->stream, {"weights", "activations"},
               "Keep this operand on the host, as much of it as does not fit, and copy it layer by "
               "layer beside the kernels: weights in inference, activations in training");
    app.add_option("--link", options->link,
                   "With --stream: bandwidth to the host, each direction [the machine's PCIe]")
        ->type_name("RATE");
    add_output(app, options->output, answer_formats(true));
    frame.run(app, [options](Context& context) { return memory(context, *options); });
}

} // namespace eyeroof::cli
